import { checkBlock, type RpcCall } from "../../../client/index.ts";
import { fromHex, toBase64 } from "../../../util/index.ts";
import type { JsonValue } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
import { printAnswer, printResult } from "../../terminal/output.ts";
import { hashArgument } from "../../values/hash.ts";
import { readHeight } from "./blocks.ts";

/** `query block [HEIGHT]`, or with `--type hash` its hash: the block as the node returns it. */
export async function queryBlock(input: CommandInput): Promise<void> {
  const { method, params } = callOf(input);
  const context = createContext(input);
  const { rpc } = await context.chain();
  printAnswer(checkBlock(await rpc.call(method, params)), context.output, input.io);
}

function callOf({ args: [text], flags }: CommandInput): RpcCall {
  if (flags.text("type") === "hash") {
    if (text === undefined) throw usageError("missing required argument 'height': the hash of the block");
    return { method: "block_by_hash", params: { hash: toBase64(fromHex(hashArgument(text, "height", "a block"))) } };
  }
  return { method: "block", params: text === undefined ? {} : { height: readHeight(text, "height").toString() } };
}

/**
 * `query block-results [HEIGHT]`: the results of a block's transactions, and its own events, as the node returns them.
 */
export async function queryBlockResults(input: CommandInput): Promise<void> {
  const [text] = input.args;
  const params = text === undefined ? {} : { height: readHeight(text, "height").toString() };
  const context = createContext(input);
  const { rpc } = await context.chain();
  printResult((await rpc.call("block_results", params)) as JsonValue, context.output, input.io);
}
