import type { CommandInput } from "../command/spec.ts";
import { createContext } from "../context/context.ts";
import { printAnswer } from "../terminal/output.ts";

/** `status`: the node's facts about itself. */
export async function status(input: CommandInput): Promise<void> {
  const context = createContext(input);
  const { rpc } = await context.chain();
  const { checkStatus } = await import("../../client/index.ts");
  printAnswer(checkStatus(await rpc.call("status")), context.output, input.io);
}
