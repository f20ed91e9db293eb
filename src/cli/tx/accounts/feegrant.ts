import {
  AllowedMsgAllowanceSchema,
  BasicAllowanceSchema,
  PeriodicAllowanceSchema,
} from "../../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "../../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { type Any, type Namespace, packAny, toNanos } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import { coinsFlag, type MessageCoin } from "../../values/coins.ts";
import { readExpiration, secondsLater } from "../../values/expiration.ts";
import { typeUrlArgument } from "../../values/type-url.ts";
import { runTx } from "../session/run.ts";

const MAX_PERIOD = 100n * 366n * 86_400n;

/** `tx feegrant grant GRANTER GRANTEE`. The sender is the first argument, regardless of `--from`. */
export async function feegrantGrant(input: CommandInput): Promise<number> {
  const [granter = "", granteeText = ""] = input.args;
  const { flags } = input;
  const grantee = addressArgument(granteeText, "grantee", flags);
  const allowance = readAllowance(flags, Date.now());
  return runTx(
    input,
    ({ sender }) => [packAny(MsgGrantAllowanceSchema, { granter: other(sender.address, grantee), grantee, allowance })],
    granter,
  );
}

function other(granter: string, grantee: string): string {
  if (granter !== grantee) return granter;
  throw usageError(`<grantee>: ${grantee} is the granter itself`, "name the account that may spend");
}

/** The allowance of the flags: with a period if they give one, and limited to messages if they name some. */
function readAllowance(flags: Flags, nowMs: number): Any {
  const { namespace } = flags.profile;
  const expiration = readExpiration(flags, nowMs);
  const basic = {
    spendLimit: coinsFlag(flags, "spend-limit") ?? [],
    ...(expiration === undefined ? {} : { expiration }),
  };
  const period = readPeriod(flags);
  if (period === undefined) return limited(flags, packAny(BasicAllowanceSchema, basic, namespace), namespace);
  const { seconds, limit } = period;
  const periodReset = secondsLater(nowMs, seconds);
  if (expiration !== undefined && toNanos(periodReset) > toNanos(expiration)) {
    throw usageError(`--period: the first ${seconds} seconds would end after the expiration`);
  }
  const periodic = { basic, period: { seconds }, periodSpendLimit: limit, periodCanSpend: limit, periodReset };
  return limited(flags, packAny(PeriodicAllowanceSchema, periodic, namespace), namespace);
}

function readPeriod(flags: Flags): { readonly seconds: bigint; readonly limit: MessageCoin[] } | undefined {
  const seconds = flags.uint("period");
  const limit = coinsFlag(flags, "period-limit");
  if (seconds === 0n && limit === undefined) return undefined;
  if (seconds === 0n || seconds > MAX_PERIOD) {
    throw usageError(`${flags.label("period")} takes the seconds of a period, from 1 to ${MAX_PERIOD}`);
  }
  if (limit === undefined) throw usageError("--period-limit is missing: give what may be spent in each period");
  return { seconds, limit };
}

function limited(flags: Flags, allowance: Any, namespace: Namespace): Any {
  const allowedMessages = flags
    .words("allowed-messages")
    .map((text) => typeUrlArgument(text, "--allowed-messages", namespace));
  if (allowedMessages.length === 0) return allowance;
  return packAny(AllowedMsgAllowanceSchema, { allowance, allowedMessages }, namespace);
}
