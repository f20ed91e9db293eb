import { committedResponse, TxResponseSchema, waitForTx } from "../../../client/index.ts";
import { toJson } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { printResult } from "../../terminal/output.ts";
import { durationFlag } from "../../values/duration.ts";
import { hashArgument } from "../../values/hash.ts";

/** `query wait-tx HASH`: the result of a transaction, as soon as it is in a block. */
export async function queryWaitTx(input: CommandInput): Promise<void> {
  const hash = hashArgument(input.args[0] ?? "", "hash", "a transaction");
  const timeoutMs = durationFlag(input.flags, "timeout");
  const context = createContext(input);
  const committed = await waitForTx(await context.chain(), hash, { timeoutMs });
  printResult(toJson(TxResponseSchema, committedResponse(committed)), context.output, input.io);
}
