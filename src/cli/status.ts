import type { JsonValue } from "../wire/index.ts";
import { createContext } from "./context.ts";
import { printResult } from "./output.ts";
import type { CommandInput } from "./spec.ts";

/** `status`: what the node says of itself. */
export async function status(input: CommandInput): Promise<void> {
  const context = createContext(input);
  const { rpc } = await context.chain();
  printResult((await rpc.call("status")) as JsonValue, context.output, input.io);
}
