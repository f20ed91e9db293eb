import type {
  BidRecord,
  DeploymentRecord,
  DepositTerms,
  LeaseRecord,
  OrderRecord,
  PaidLease,
  ProviderRecord,
} from "../../client/index.ts";
import type { IntCoin } from "../../util/index.ts";
import type { Any } from "../../wire/index.ts";

/** A transaction that is in a block and succeeded. */
export interface CommittedMessages {
  readonly hash: string;
  readonly height: bigint;
}

/**
 * The chain as a tenant's deployment needs it. `undefined` means that the chain answered and has no such record; every
 * call rejects when the chain could not be asked.
 */
export interface Market {
  /** The tenant. */
  readonly owner: string;
  readonly chainId: string;
  height(): Promise<bigint>;
  /** Resolves with the first height above `after` once the chain reaches it. Survives lost connections. */
  nextBlock(after: bigint, signal: AbortSignal): Promise<bigint>;
  /** Measured seconds between blocks. */
  blockSeconds(): Promise<number>;
  terms(): Promise<DepositTerms>;
  balance(denom: string): Promise<bigint>;
  deployment(dseq: bigint): Promise<DeploymentRecord | undefined>;
  /** The tenant's deployments, oldest first. */
  deployments(state: "active" | ""): Promise<readonly DeploymentRecord[]>;
  openOrders(dseq: bigint): Promise<readonly OrderRecord[]>;
  openBids(dseq: bigint): Promise<readonly BidRecord[]>;
  /** Leases in every state. */
  leases(dseq: bigint): Promise<readonly PaidLease[]>;
  /**
   * Rejects with `deployErrors.disproved` unless bids or leases of a list are in force at their prices, as the chain proves.
   * Resolves at once where no block is trusted.
   */
  confirmBids(bids: readonly BidRecord[]): Promise<void>;
  confirmLeases(leases: readonly LeaseRecord[]): Promise<void>;
  providers(): Promise<readonly ProviderRecord[]>;
  provider(address: string): Promise<ProviderRecord | undefined>;
  /** Who has signed attributes of the provider. */
  auditors(provider: string): Promise<readonly string[]>;
  /** Fee of a transaction with a number of messages. */
  fee(messages: number): readonly IntCoin[];
  /** Signs, sends and waits for the block. Rejects with the chain's codespace and code if the chain refuses. */
  send(messages: readonly Any[]): Promise<CommittedMessages>;
}

/** Leases that are running. */
export function activeLeases<T extends LeaseRecord>(leases: readonly T[]): readonly T[] {
  return leases.filter(({ state }) => state === "active");
}
