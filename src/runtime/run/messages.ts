import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { SvcError, sdkErrors } from "../../util/index.ts";
import { packAny } from "../../wire/index.ts";
import type { RoutedMessage } from "../ante/tx.ts";
import type { Context } from "../context.ts";
import { type Event, EventSink } from "../events.ts";
import { prepaidGas } from "../gas/gas.ts";
import type { GasCosts } from "../gas/metered.ts";

/** Amounts may have a digit more when the block comes: rather too much gas is estimated than too little. */
const SIMULATED_PERCENT = 105n;

/** What one message did. */
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

/** Runs the messages of a transaction one after the other; the error of one ends the run. */
export function runMessages(
  ctx: Context,
  messages: readonly RoutedMessage[],
  { costs, before }: MessageRun,
): MessageResult[] {
  return messages.map((message, index) => {
    before?.();
    try {
      return runMessage(ctx, message, costs);
    } catch (error) {
      throw error instanceof SvcError && !isOutOfGas(error)
        ? error.wrap(`failed to execute message; message index: ${index}`)
        : error;
    }
  });
}

/**
 * Runs one message, which pays for what it reads and writes. A module that prices its messages takes a fixed amount first, in
 * which so much of that is included: ordinary messages cost the same whatever the state holds, large ones what they touch.
 */
function runMessage(ctx: Context, { route, value, namespace }: RoutedMessage, costs: GasCosts): MessageResult {
  const { module, method, action, message } = route;
  const events = new EventSink();
  events.emit("message", { action });
  const fixed = module.messageGas?.(ctx, message);
  if (fixed !== undefined) ctx.gas.consume(fixed, message);
  const gas =
    fixed === undefined ? ctx.gas : prepaidGas(ctx.gas, fixed, ctx.mode === "simulate" ? SIMULATED_PERCENT : 100n);
  const init = method.handle(ctx.with({ events, costs, gas }), value);
  return { events: events.all(), response: packAny(method.output, create(method.output, init), namespace) };
}

function isOutOfGas(error: SvcError): boolean {
  return error.codespace === "sdk" && error.code === sdkErrors.outOfGas.code;
}
