import type { ControlOrder, ControlState } from "../../../provider/index.ts";
import { printable } from "../../../util/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
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
