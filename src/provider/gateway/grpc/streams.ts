import { isOneOf } from "../../../util/index.ts";
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
  readonly #byCaller = new Map<string, number>();
  readonly #open = new Set<AbortController>();

  constructor(limits: GatewayLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#open.size;
  }

  open(caller: Caller): OpenStream {
    const { statusStreams, statusStreamsPerCaller, recheck } = this.#limits;
    const count = this.#byCaller.get(caller.name) ?? 0;
    if (this.#open.size >= statusStreams || count >= statusStreamsPerCaller)
      throw callError(gatewayErrors.tooMany("too many open streams"));
    const controller = new AbortController();
    this.#open.add(controller);
    this.#byCaller.set(caller.name, count + 1);
    const timer = setInterval(this.#judge(caller, controller), recheck);
    const close = () => {
      clearInterval(timer);
      if (this.#open.delete(controller)) this.#leave(caller.name);
    };
    return { signal: controller.signal, close };
  }

  /** Ends all streams. */
  drop(reason: unknown): void {
    for (const controller of this.#open) controller.abort(reason);
  }

  #leave(name: string): void {
    const left = (this.#byCaller.get(name) ?? 1) - 1;
    if (left === 0) this.#byCaller.delete(name);
    else this.#byCaller.set(name, left);
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
