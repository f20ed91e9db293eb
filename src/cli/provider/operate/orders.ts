import { marketReader } from "../../../client/index.ts";
import { type ControlOrder, type ControlState, isObstacle, OBSTACLES } from "../../../provider/index.ts";
import { printable } from "../../../util/index.ts";
import { formatOrderId, type OrderKey, parseOrderId } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printResult, printTable } from "../../terminal/output.ts";
import { cutTable } from "../../terminal/table.ts";
import { runningState } from "./running.ts";

/** `svc provider orders`. */
export async function providerOrders(input: CommandInput): Promise<void> {
  const { flags, home, output, io } = createContext(input);
  const phase = flags.text("phase");
  const limit = flags.count("limit");
  if (limit === 0) throw usageError(`${flags.label("limit")}: write a number of at least 1`);
  const state = await runningState(home);
  const wanted = state.orders.filter((order) => phase === "" || order.phase === phase);
  const shown = wanted.slice(-limit);
  if (output === "json") return printResult({ orders: shown.map(plain) }, output, io);
  if (shown.length === 0) io.err(`${nothing(phase, state)}\n`);
  else printTable(cutTable([HEAD, ...shown.map(row)], output === "table" ? io.columns : undefined), io);
  const left = wanted.length - shown.length + state.omitted;
  if (left > 0) io.err(`${left} older ones are not shown\n`);
}

const HEAD = ["ORDER", "PHASE", "PRICE", "DETECTED", "REASON"];

/** Without rows, the heading alone would not say whether the provider sees the market at all. */
function nothing(phase: string, { orders, started_at }: ControlState): string {
  if (orders.length === 0) return `no order has come since the provider started at ${started_at}`;
  return `none of the ${orders.length} orders that the provider remembers is in phase ${phase}`;
}

/** Parts of a reason are words of tenants. */
function row({ order, phase, price = "-", detected_at, reason = "" }: ControlOrder): string[] {
  return [order, phase, price, detected_at, printable(reason).replaceAll(/\s+/g, " ")];
}

function plain(order: ControlOrder): Record<string, string> {
  return Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined));
}

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
