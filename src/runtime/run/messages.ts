import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { SvcError, sdkErrors } from "../../util/index.ts";
import { packAny } from "../../wire/index.ts";
import type { RoutedMessage } from "../ante/tx.ts";
import type { Context } from "../context.ts";
import { EVENTS_ALONE, type Event, EventSink, MESSAGE_INDEX, messageMark } from "../events.ts";
import { type GasMeter, prepaidGas } from "../gas/gas.ts";
import type { GasCosts } from "../gas/metered.ts";
import type { MessageRoute } from "../router.ts";

/** Amounts may have one digit more when the block is made: it is better to estimate too much gas than too little. */
const SIMULATED_PERCENT = 105n;

/** Result of one message. */
export interface MessageResult {
  readonly events: readonly Event[];
  /** The response, its type URL in the spelling of the message. */
  readonly response: Any;
}

/** How messages run. */
export interface MessageRun {
  readonly costs: GasCosts;
  /** Called before each message; what it throws ends the run. */
  readonly before?: () => void;
}

/** Runs the messages of a transaction in order; the first error ends the run. */
export function runMessages(
  ctx: Context,
  messages: readonly RoutedMessage[],
  { costs, before }: MessageRun,
): MessageResult[] {
  return messages.map((message, index) => {
    before?.();
    try {
      return runMessage(ctx, message, { events: new EventSink([messageMark(index)]), costs });
    } catch (error) {
      throw failedMessage(error, index);
    }
  });
}

/** Runs one message, which pays for what it reads and writes. */
function runMessage(
  ctx: Context,
  { route, value, namespace }: RoutedMessage,
  { events, costs }: { readonly events: EventSink; readonly costs: GasCosts },
): MessageResult {
  const { method, actions } = route;
  events.emitActions(actions);
  const init = method.handle(ctx.with({ events, costs, gas: chargeMessage(ctx, route) }), value);
  return { events: events.all(), response: packAny(method.output, create(method.output, init), namespace) };
}

/**
 * Consumes the fixed gas of a message whose module prices it, and returns the meter for its work with the included gas:
 * ordinary messages cost the same whatever the state holds, large ones pay for the state they touch.
 */
export function chargeMessage(ctx: Context, { module, message }: MessageRoute): GasMeter {
  const fixed = module.messageGas?.(ctx, message);
  if (fixed === undefined) return ctx.gas;
  ctx.gas.consume(fixed, message);
  return prepaidGas(ctx.gas, fixed, ctx.mode === "simulate" ? SIMULATED_PERCENT : 100n);
}

/** Adds the number of the failed message to its error; out of gas stays unchanged. */
export function failedMessage(error: unknown, index: number): unknown {
  return error instanceof SvcError && !isOutOfGas(error)
    ? error.wrap(`failed to execute message; message index: ${index}`)
    : error;
}

function isOutOfGas(error: SvcError): boolean {
  return error.codespace === "sdk" && error.code === sdkErrors.outOfGas.code;
}

/** An attribute as the log shows it. */
interface LogAttribute {
  readonly key: string;
  readonly value: string;
}

/**
 * The log of a successful transaction, one entry per message: events of one type form one entry with all attributes in
 * the order of emission, types in alphabetical order. The first entry leaves its index out, as clients expect.
 */
export function successLog(messages: readonly (readonly Event[])[]): string {
  const entries = messages.map((events, i) =>
    i === 0 ? { events: mergeByType(events) } : { msg_index: i, events: mergeByType(events) },
  );
  return escapeMarkup(JSON.stringify(entries));
}

function mergeByType(events: readonly Event[]): { readonly type: string; readonly attributes: LogAttribute[] }[] {
  const merged = new Map<string, LogAttribute[]>();
  for (const [i, { type, attributes }] of events.entries()) {
    if (EVENTS_ALONE.has(type)) continue;
    const shown = merged.get(type) ?? [];
    merged.set(type, shown);
    for (const { key, value } of attributes) {
      if (key !== MESSAGE_INDEX) shown.push({ key, value });
      // The first event names the action, and its type URLs too, which are not part of the log.
      if (i === 0) break;
    }
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, attributes]) => ({ type, attributes }));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** The ecosystem's logs are JSON that can be embedded in a web page. */
function escapeMarkup(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => ESCAPES[char] ?? char);
}
