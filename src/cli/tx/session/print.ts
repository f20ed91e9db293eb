import { create } from "@bufbuild/protobuf";
import { type TxResponse, TxResponseSchema, txError } from "../../../client/index.ts";
import { EXIT, printable, shellWord } from "../../../util/index.ts";
import { type Tx, TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeTxParts, printJson, toJson } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CliContext } from "../../context/context.ts";
import { printResult } from "../../terminal/output.ts";

/** The signed parts of a transaction in the bytes that are signed. */
export interface TxParts {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
}

/** A transaction as one line of JSON, decoded from the bytes that are signed and sent. */
export function txJson(parts: TxParts, signatures: readonly Uint8Array[] = []): string {
  const { body, authInfo } = decodeTxParts(parts.bodyBytes, parts.authInfoBytes, { foreign: true });
  return printTx(create(TxSchema, { body, authInfo, signatures: [...signatures] }));
}

export function printTx(tx: Tx): string {
  return printJson(toJson(TxSchema, tx, { exact: true }));
}

/** Prints the result of a transaction; the exit code says whether it is known to have failed. */
export async function printTxResult(context: CliContext, response: TxResponse): Promise<number> {
  printResult(toJson(TxResponseSchema, response), context.output, context.io);
  if (response.code === 0 && response.height === 0n) tellWait(context, response.txhash);
  if (response.code === 0) return EXIT.done;
  const { message, hint } = txError(response);
  context.io.err(`Error: ${printable(message)}\n`);
  if (hint !== undefined) context.io.err(`Hint: ${hint}\n`);
  return EXIT.failed;
}

/** Flags of this command line that the next one needs to find the same node. */
const PLACE = ["node", "home", "profile"] as const;

/** The flags of the place that were given, each after a space. */
export function placeFlags(flags: Flags): string {
  return PLACE.filter((name) => flags.typed(name))
    .map((name) => ` --${name} ${shellWord(flags.text(name))}`)
    .join("");
}

function tellWait({ flags, io }: CliContext, txhash: string): void {
  io.err(`not in a block yet; wait for it with: svc query wait-tx ${txhash}${placeFlags(flags)}\n`);
}
