import { isOneOf } from "../../../util/index.ts";
import { Shares } from "../../../util/servers/index.ts";
import type { Caller } from "../access/authorizer.ts";
import { gatewayErrors } from "../errors.ts";
import type { GatewayLimits } from "../limits.ts";
import { callError } from "./refusal.ts";

export interface OpenStream {
  readonly signal: AbortSignal;
  readonly close: () => void;
}

/** The streams that are open: counted, and authorised again from time to time. */
export class OpenStreams {
  readonly #limits: GatewayLimits;
  readonly #now: () => number;
  readonly #shares: Shares;
  readonly #open = new Set<AbortController>();

  constructor(limits: GatewayLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#shares = new Shares({ each: limits.statusStreamsPerCaller, all: limits.statusStreams });
  }

  get size(): number {
    return this.#open.size;
  }

  open(caller: Caller): OpenStream {
    const leave = this.#shares.take(caller.name);
    if (leave === undefined) throw callError(gatewayErrors.tooMany("too many open streams"));
    const controller = new AbortController();
    this.#open.add(controller);
    const timer = setInterval(this.#judge(caller, controller), this.#limits.recheck);
    const close = () => {
      clearInterval(timer);
      this.#open.delete(controller);
      leave();
    };
    return { signal: controller.signal, close };
  }

  /** Ends all streams. */
  drop(reason: unknown): void {
    for (const controller of this.#open) controller.abort(reason);
  }

  /** While the chain cannot be asked a stream lives on for a while. */
  #judge(caller: Caller, controller: AbortController): () => void {
    let last = this.#now();
    const judge = async (): Promise<void> => {
      try {
        await caller.recheck();
        last = this.#now();
      } catch (error) {
        const isAway = isOneOf([gatewayErrors.chainUnreachable], error);
        if (!isAway || this.#now() - last >= this.#limits.recheckGrace) controller.abort(callError(error));
      }
    };
    return () => void judge();
  }
}
