import type { JsonValue } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { printResult } from "../output.ts";
import type { CommandInput } from "../spec.ts";
import { readHeight } from "./blocks.ts";

/** `query block [HEIGHT]`: the block as the node tells it. */
export async function queryBlock(input: CommandInput): Promise<void> {
  const [text] = input.args;
  const height = text === undefined ? undefined : readHeight(text, "height");
  const context = createContext(input);
  const { rpc } = await context.chain();
  const block = await rpc.call("block", height === undefined ? {} : { height: height.toString() });
  printResult(block as JsonValue, context.output, input.io);
}
