import * as v from "valibot";
import { errorText, formatCoins, parseCoins } from "../../../util/index.ts";
import { MsgCreatePeriodicVestingAccountSchema } from "../../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { type JsonValue, packAny, readJson } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { commandError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import { readTextFile } from "../../terminal/files.ts";
import type { MessageCoin } from "../../values/coins.ts";
import { runTx } from "../session/run.ts";

/** `tx vesting create-periodic-vesting-account TO FILE`: coins that vest at the end of each period of a file. */
export async function createPeriodicVestingAccount(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const toAddress = addressArgument(args[0] ?? "", "to-address", flags);
  const { startTime, periods: vestingPeriods } = readPeriodsFile(args[1] ?? "");
  return runTx(input, ({ sender }) => [
    packAny(MsgCreatePeriodicVestingAccountSchema, {
      fromAddress: sender.address,
      toAddress,
      startTime,
      vestingPeriods,
    }),
  ]);
}

const MAX_BYTES = 1 << 20;
const HINT = 'write {"start_time": 1735689600, "periods": [{"coins": "10utoken", "length_seconds": 2592000}]}';

/** A whole number, as JSON or as text: files have both. */
const SECONDS = v.pipe(
  v.union([
    v.string(),
    v.pipe(
      v.number(),
      v.transform((value): string => String(value)),
    ),
  ]),
  v.regex(/^\d{1,12}$/, "a whole number of seconds was expected"),
  v.transform((text): bigint => BigInt(text)),
);
const FILE = v.strictObject({
  start_time: SECONDS,
  periods: v.pipe(v.array(v.strictObject({ coins: v.string(), length_seconds: SECONDS })), v.minLength(1)),
});

interface VestingPeriods {
  /** Seconds since 1970. */
  readonly startTime: bigint;
  readonly periods: { readonly length: bigint; readonly amount: MessageCoin[] }[];
}

/** The periods of `tx vesting create-periodic-vesting-account`, consecutive from a start time. */
function readPeriodsFile(path: string): VestingPeriods {
  const text = readTextFile(path, { what: "file of periods", maxBytes: MAX_BYTES, hint: HINT });
  try {
    return read(readJson(text));
  } catch (error) {
    throw commandError(`file of periods ${path}: ${errorText(error)}`, { hint: HINT, cause: error });
  }
}

function read(json: JsonValue): VestingPeriods {
  const result = v.safeParse(FILE, json);
  if (!result.success) {
    const [issue] = result.issues;
    throw new Error(`${v.getDotPath(issue) ?? "the file"}: ${issue.message}`);
  }
  const { start_time: startTime, periods } = result.output;
  return { startTime, periods: periods.map(readPeriod) };
}

function readPeriod({ coins, length_seconds: length }: { readonly coins: string; readonly length_seconds: bigint }) {
  const amount = parseCoins(coins);
  if (length === 0n || amount.length === 0 || amount.some((coin) => coin.amount === 0n)) {
    throw new Error(`a period of ${length} s that vests "${formatCoins(amount)}" vests nothing`);
  }
  return { length, amount: amount.map(({ denom, amount: value }) => ({ denom, amount: value.toString() })) };
}
