import { create } from "@bufbuild/protobuf";
import { adjustGas, gasEstimateText } from "../../../client/index.ts";
import { AuthInfoSchema, type Tx } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput, Run } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { gasAdjustmentFlag } from "../../values/gas.ts";
import { printTx } from "../session/print.ts";
import { readTxSettings } from "../session/settings.ts";
import { readTxFile } from "./file.ts";
import { readBatch } from "./sign.ts";

/** Flags whose values a transaction in a file already has. */
const SETTLED = [
  "fees",
  "gas",
  "gas-prices",
  "memo",
  "timeout-height",
  "timeout-duration",
  "unordered",
  "fee-payer",
  "fee-granter",
] as const;

/** A command on the transaction in a file. */
export function onFile(run: Run): Run {
  return unlessUnsent(
    (input) => {
      tellSettled(input.flags, input.io);
      return run(input);
    },
    async ({ args, io }) => [await readTxFile(args[0] ?? "", io)],
  );
}

/** A command on files with a transaction on each line. */
export function onFiles(run: Run): Run {
  return unlessUnsent(run, (input) => readBatch(input, readTxSettings(input.flags)));
}

/**
 * `--generate-only` and `--dry-run` work as everywhere: the transactions are printed unsigned, or their gas is shown,
 * and the command itself does not run.
 */
function unlessUnsent(run: Run, read: (input: CommandInput) => Promise<readonly Tx[]>): Run {
  return async (input) => {
    const { flags, io } = input;
    const [generate, dryRun] = [flags.bool("generate-only"), flags.bool("dry-run")];
    if (!generate && !dryRun) return (await run(input)) ?? undefined;
    if (generate && dryRun) throw usageError("--generate-only and --dry-run cannot be used together");
    if (dryRun && flags.bool("offline")) {
      throw usageError("--dry-run needs a node and cannot be used with --offline");
    }
    for (const tx of await read(input)) {
      if (generate) io.out(`${printTx(withoutSignatures(tx))}\n`);
      else io.err(`${gasEstimateText(await gasOf(input, tx))}\n`);
    }
    return undefined;
  };
}

function tellSettled(flags: Flags, io: Pick<Io, "err">): void {
  for (const name of SETTLED.filter((each) => flags.typed(each))) {
    io.err(`--${name} changes nothing: the file holds the whole transaction\n`);
  }
}

function withoutSignatures(tx: Tx): Tx {
  const fee = tx.authInfo?.fee;
  return { ...tx, authInfo: create(AuthInfoSchema, fee === undefined ? {} : { fee }), signatures: [] };
}

async function gasOf(input: CommandInput, tx: Tx): Promise<bigint> {
  const { flags } = input;
  const { simulated } = await import("./broadcast.ts");
  const adjustment = gasAdjustmentFlag(flags);
  const { gasInfo } = await simulated(createContext(input), tx, "multisig");
  return adjustGas(gasInfo?.gasUsed ?? 0n, adjustment);
}
