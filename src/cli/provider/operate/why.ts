import { marketReader } from "../../../client/index.ts";
import { type ControlOrder, type ControlState, isObstacle, OBSTACLES } from "../../../provider/index.ts";
import { printable } from "../../../util/index.ts";
import { formatOrderId, type OrderKey, parseOrderId } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { runningState } from "./running.ts";

const PHASES: Readonly<Record<string, string>> = {
  checking: "it is being checked",
  bidding: "a bid is on its way to the chain",
  open: "it has a bid of this provider; the tenant has not chosen yet",
  withdrawing: "its bid is being withdrawn",
  won: "this provider has the lease",
};

/** `svc provider why ORDER`. */
export async function providerWhy(input: CommandInput): Promise<void> {
  const context = createContext(input);
  const id = orderArgument(input.args[0] ?? "");
  const text = formatOrderId(id);
  const state = await runningState(context.home);
  const found = state.orders.find(({ order }) => order === text);
  if (found === undefined) throw await unknownOrder(context, id, state);
  printResult(answerOf(found), context.output, context.io);
}

function answerOf(found: ControlOrder): Record<string, string> {
  const { order, phase, reason, obstacle, again_at, price, detected_at } = found;
  const remedy = obstacle !== undefined && isObstacle(obstacle) ? OBSTACLES[obstacle].remedy : undefined;
  const why = reason === undefined ? PHASES[phase] : printable(reason);
  return {
    detected_at,
    order,
    phase,
    ...(price === undefined ? {} : { price }),
    ...(why === undefined ? {} : { reason: why }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(again_at === undefined ? {} : { again_at }),
  };
}

function orderArgument(text: string): OrderKey {
  try {
    const { owner, dseq, gseq, oseq } = parseOrderId(text);
    return { owner, dseq, gseq, oseq };
  } catch {
    throw usageError(`"${printable(text)}" is not an order: write one as <owner>/<dseq>/<gseq>/<oseq>`);
  }
}

/** Only the chain can say whether the provider should know the order. */
async function unknownOrder(context: CliContext, id: OrderKey, { started_at }: ControlState): Promise<Error> {
  const text = formatOrderId(id);
  const chain = await context.chain();
  try {
    const order = await marketReader(chain.query).order(id);
    if (order === undefined)
      return commandError(`order ${text} is not on the chain`, { hint: "list them: svc query market order list" });
    if (order.state !== "open") {
      const hint = "it remembers the latest thousand orders that ended";
      return commandError(`order ${text} is ${order.state}; the provider has run since ${started_at}`, { hint });
    }
    return commandError(`order ${text} is open, and the provider has not seen it`, {
      hint: "blocks may not reach it: svc provider check",
    });
  } finally {
    chain.close();
  }
}
