import type { KVStore, MultiStore } from "../store/index.ts";
import { EventSink } from "./events.ts";
import { type GasMeter, infiniteGas } from "./gas.ts";
import { type GasCosts, meteredStore } from "./metered.ts";

/**
 * What is being executed. `check`/`recheck` see the mempool's state, `simulate` runs messages without signatures,
 * `deliver` is a transaction of a block, `block` a begin- or end-block item.
 */
export type Mode = "genesis" | "check" | "recheck" | "simulate" | "deliver" | "block" | "query";

/** The block being built or the last committed one. `time` is nanoseconds since 1970, UTC. */
export interface BlockInfo {
  readonly chainId: string;
  readonly height: bigint;
  readonly time: bigint;
  /** Consensus address of the proposer, 20 bytes. */
  readonly proposer: Uint8Array;
}

interface ContextParts {
  readonly block: BlockInfo;
  readonly mode: Mode;
  readonly stores: MultiStore;
  readonly gas?: GasMeter;
  readonly events?: EventSink;
  /** Store operations consume gas by these costs; absent = unmetered. */
  readonly costs?: GasCosts | undefined;
}

/** Everything a handler may see or change: no clock, no randomness, no I/O beside it. */
export class Context {
  readonly block: BlockInfo;
  readonly mode: Mode;
  readonly gas: GasMeter;
  readonly events: EventSink;
  readonly #stores: MultiStore;
  readonly #costs: GasCosts | undefined;

  constructor(parts: ContextParts) {
    this.block = parts.block;
    this.mode = parts.mode;
    this.gas = parts.gas ?? infiniteGas();
    this.events = parts.events ?? new EventSink();
    this.#stores = parts.stores;
    this.#costs = parts.costs;
  }

  get height(): bigint {
    return this.block.height;
  }

  /** The named store, metered when this context is. */
  store(name: string): KVStore {
    const store = this.#stores.store(name);
    return this.#costs === undefined ? store : meteredStore(store, this.gas, this.#costs);
  }

  with(change: Partial<Omit<ContextParts, "stores">>): Context {
    return new Context({
      block: this.block,
      mode: this.mode,
      stores: this.#stores,
      gas: this.gas,
      events: this.events,
      costs: this.#costs,
      ...change,
    });
  }

  /**
   * Runs `work` on a branch of the state with the same gas meter: its writes and events are kept when it returns and
   * forgotten when it throws.
   */
  attempt<T>(work: (ctx: Context) => T): T {
    const stores = this.#stores.branch();
    const events = new EventSink();
    const result = work(
      new Context({ block: this.block, mode: this.mode, stores, gas: this.gas, events, costs: this.#costs }),
    );
    stores.flush();
    this.events.append(events.all());
    return result;
  }
}
