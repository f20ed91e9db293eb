import type { IntCoin, Logger } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import type { Inventory } from "../inventory/index.ts";
import type { Meter } from "../metrics/index.ts";
import type { OutMessage, SendOptions } from "../outbox/index.ts";
import type { PricingStrategy } from "../pricing/index.ts";
import type { HostFault } from "../reasons.ts";
import type { Offer } from "./stages/filters.ts";

/**
 * The orders' queries to the chain. Calls reject if it cannot be queried; undefined means a definite "does not exist".
 */
export interface OrderChain extends Pick<ChainView, "openOrders" | "order" | "bid" | "openBidPrices" | "marketParams"> {
  /** Our current record; signatures are queried for the auditors named. */
  offer(auditors: readonly string[]): Promise<Offer>;
  balance(denom: string): Promise<bigint>;
}

/** Parts of a provider that its orders need. */
export interface OrderOptions {
  readonly provider: string;
  readonly chain: OrderChain;
  readonly inventory: Inventory;
  readonly pricing: PricingStrategy;
  readonly send: (message: OutMessage, label: string, options?: SendOptions) => Promise<bigint>;
  readonly log: Logger;
  readonly deposit: IntCoin;
  /** Fee of one bid, kept free besides the deposit. */
  readonly fee: IntCoin;
  /** Stays in the account whatever is bid. */
  readonly keep?: IntCoin;
  /** An open bid is withdrawn after this time. */
  readonly bidTimeoutMs: number;
  readonly retryMs: number;
  /** Why no container can be run now; checked before every bid. */
  readonly obstacle?: () => Promise<HostFault | undefined>;
  /** The lease is ours: called once, after the reservation is marked. */
  readonly onWon: (id: OrderKey) => void;
  /** Counts events of orders. */
  readonly meter?: Meter;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}
