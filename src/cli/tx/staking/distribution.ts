import { accountInfo } from "../../../client/index.ts";
import { Query } from "../../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import {
  MsgWithdrawDelegatorRewardSchema,
  MsgWithdrawValidatorCommissionSchema,
} from "../../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { type Any, accountOfValidator, packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { validatorArgument } from "../../query/ask.ts";
import { finishTx, openTx, runTx, type TxSession } from "../session/run.ts";

/**
 * `tx distribution withdraw-rewards VALIDATOR`; with `--commission` the operator's commission in the same transaction.
 */
export async function withdrawRewards(input: CommandInput): Promise<number> {
  const validatorAddress = validatorArgument(input.args[0] ?? "", "validator-addr", input.flags);
  const withCommission = input.flags.bool("commission");
  return runTx(input, ({ sender }) => {
    const operator = accountOfValidator(validatorAddress);
    if (withCommission && operator !== sender.address) {
      const text = `--commission: ${operator} operates the validator and must sign, not ${sender.address}`;
      throw usageError(text, "leave out --commission, or give --from the key of the operator");
    }
    const rewards = withdrawal(sender.address, validatorAddress);
    return withCommission ? [rewards, packAny(MsgWithdrawValidatorCommissionSchema, { validatorAddress })] : [rewards];
  });
}

/**
 * `tx distribution withdraw-all-rewards`: one transaction, or with `--max-msgs` several with at most that many
 * messages.
 */
export async function withdrawAllRewards(input: CommandInput): Promise<number> {
  const size = Number(input.flags.uint("max-msgs"));
  const session = await openTx(createContext(input));
  const { query } = await session.chain();
  const delegatorAddress = session.sender.address;
  const { validators } = await query.call(Query.method.delegatorValidators, { delegatorAddress });
  if (validators.length === 0) {
    throw commandError(`${delegatorAddress} has delegated to no validator: there are no rewards to withdraw`);
  }
  const messages = validators.map((validator) => withdrawal(delegatorAddress, validator));
  return sendChunks(session, chunks(messages, size === 0 ? messages.length : size));
}

function withdrawal(delegatorAddress: string, validatorAddress: string): Any {
  return packAny(MsgWithdrawDelegatorRewardSchema, { delegatorAddress, validatorAddress });
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Sends transactions one after the other; the first that fails, or that the user refuses, is the last. */
async function sendChunks(session: TxSession, parts: readonly (readonly Any[])[]): Promise<number> {
  const sending = session.settings.purpose === "send";
  const own = sending && parts.length > 1 ? await withSequence(session) : session;
  for (const part of parts) {
    const { sent } = own;
    const code = await finishTx(own, part);
    if (code !== 0 || (sending && own.sent === sent)) return code;
  }
  return 0;
}

/** The chain's sequence does not count transactions that wait for a block: it is read once and counted from there. */
async function withSequence(session: TxSession): Promise<TxSession> {
  const { settings, sender } = session;
  const { query } = await session.chain();
  const info = await accountInfo(query, sender.address);
  const accountNumber = settings.accountNumber ?? info.accountNumber;
  return { ...session, settings: { ...settings, accountNumber, sequence: settings.sequence ?? info.sequence } };
}
