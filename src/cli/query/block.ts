import { tryParseInt } from "../../util/index.ts";
import type { JsonValue } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { usageError } from "../errors.ts";
import { printResult } from "../output.ts";
import type { CommandInput } from "../spec.ts";

const MAX_HEIGHT = (1n << 63n) - 1n;

/** `query block [HEIGHT]`: the block as the node tells it. */
export async function queryBlock(input: CommandInput): Promise<void> {
  const [text] = input.args;
  const height = text === undefined ? undefined : tryParseInt(text);
  if (text !== undefined && (height === undefined || height <= 0n || height > MAX_HEIGHT)) {
    throw usageError(`<height>: "${text.slice(0, 64)}" is no height: write a whole number from 1 on`);
  }
  const context = createContext(input);
  const { rpc } = await context.chain();
  const block = await rpc.call("block", height === undefined ? {} : { height: height.toString() });
  printResult(block as JsonValue, context.output, input.io);
}
