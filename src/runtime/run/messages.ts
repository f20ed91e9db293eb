import { create, type DescMessage } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { SvcError, sdkErrors } from "../../util/index.ts";
import { type Namespace, packAny } from "../../wire/index.ts";
import type { RoutedMessage } from "../ante/tx.ts";
import type { Context } from "../context.ts";
import { type Event, EventSink, messageMark } from "../events.ts";
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
  return { events: events.all(), response: responseOf(method.output, init, namespace) };
}

/** Responses without content, by type; the first of a type is given to all. */
const empty: Readonly<Record<Namespace, WeakMap<DescMessage, Any>>> = { sdk: new WeakMap(), cosmos: new WeakMap() };

function responseOf(schema: DescMessage, init: Record<string, unknown>, namespace: Namespace): Any {
  for (const _ in init) return packAny(schema, create(schema, init), namespace);
  const known = empty[namespace].get(schema) ?? packAny(schema, create(schema), namespace);
  empty[namespace].set(schema, known);
  return known;
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
