import type { JsonValue } from "../../wire/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { createContext } from "../context.ts";
import { printResult } from "../terminal/output.ts";
import { readHeight } from "./blocks.ts";

/** `query block-results [HEIGHT]`: what the transactions of a block did, and its own events, as the node tells them. */
export async function queryBlockResults(input: CommandInput): Promise<void> {
  const [text] = input.args;
  const params = text === undefined ? {} : { height: readHeight(text, "height").toString() };
  const context = createContext(input);
  const { rpc } = await context.chain();
  printResult((await rpc.call("block_results", params)) as JsonValue, context.output, input.io);
}
