import { type BlockEvidence, NO_EVIDENCE } from "../abci/index.ts";
import type { KVStore, MultiStore } from "../store/index.ts";
import type { Namespace } from "../wire/index.ts";
import { EventSink } from "./events.ts";
import { type GasMeter, infiniteGas } from "./gas/gas.ts";
import { type GasCosts, meteredStore } from "./gas/metered.ts";

/**
 * The kind of execution. `check`/`recheck` see the mempool's state, `simulate` runs messages without signatures,
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
  /** Hash of the state before the block; for its begin- and end-block items. */
  readonly appHash?: Uint8Array;
  /** Hash of the voters of the next block; for begin- and end-block items. */
  readonly nextValidatorsHash?: Uint8Array;
}

/** A begin- or end-block item that failed; for the operator, never part of the state. */
export interface BlockProblem {
  readonly item: string;
  readonly height: bigint;
  readonly error: unknown;
}

interface ContextParts {
  readonly block: BlockInfo;
  /** Votes and misbehaviour of the block being executed; none in other modes. */
  readonly evidence?: BlockEvidence;
  readonly mode: Mode;
  readonly stores: MultiStore;
  readonly gas?: GasMeter;
  readonly events?: EventSink;
  /** Store operations consume gas by these costs; absent = unmetered. */
  readonly costs?: GasCosts | undefined;
  readonly namespace?: Namespace;
  /** Called with errors that are contained; silent unless given. */
  readonly report?: (problem: BlockProblem) => void;
}

/** Everything a handler may see or change: no clock, no randomness, no I/O beside it. */
export class Context {
  readonly block: BlockInfo;
  /** Who voted on the block before, and who is proven to have misbehaved: for begin- and end-block items. */
  readonly evidence: BlockEvidence;
  readonly mode: Mode;
  readonly gas: GasMeter;
  readonly events: EventSink;
  /** The spelling in which a query was asked: type URLs in its answer use the same. */
  readonly namespace: Namespace;
  readonly report: (problem: BlockProblem) => void;
  readonly #stores: MultiStore;
  readonly #costs: GasCosts | undefined;

  constructor(parts: ContextParts) {
    this.block = parts.block;
    this.evidence = parts.evidence ?? NO_EVIDENCE;
    this.mode = parts.mode;
    this.gas = parts.gas ?? infiniteGas();
    this.events = parts.events ?? new EventSink();
    this.namespace = parts.namespace ?? "sdk";
    this.report = parts.report ?? ignore;
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

  /** The named store, never metered: for parameters, which are read with everything and cost about nothing. */
  plainStore(name: string): KVStore {
    return this.#stores.store(name);
  }

  with(change: Partial<Omit<ContextParts, "stores">>): Context {
    return new Context({ ...this.#parts(), ...change });
  }

  /**
   * Runs `work` on a branch of the state with the same gas meter: its writes and events are kept if it returns and
   * dropped if it throws.
   */
  attempt<T>(work: (ctx: Context) => T): T {
    const stores = this.#stores.branch();
    const events = this.events.branch();
    const result = work(new Context({ ...this.#parts(), stores, events }));
    stores.flush();
    this.events.append(events.all());
    return result;
  }

  #parts(): ContextParts {
    return {
      block: this.block,
      evidence: this.evidence,
      mode: this.mode,
      stores: this.#stores,
      gas: this.gas,
      events: this.events,
      costs: this.#costs,
      namespace: this.namespace,
      report: this.report,
    };
  }
}

function ignore(): void {}
