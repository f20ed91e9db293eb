import type { SdlLimits } from "../../sdl/index.ts";
import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { Any, LeaseKey, OrderKey } from "../../wire/index.ts";

export type GroupState = "open" | "paused" | "insufficient_funds" | "closed";

export interface GroupRecord {
  readonly gseq: number;
  readonly state: GroupState;
  readonly spec: GroupSpec;
  /** Name of the reason for which it stopped; `not_closed` while it has not. */
  readonly closeReason: string;
}

/** Money behind a deployment. Amounts are those of the last settlement. */
export interface EscrowRecord {
  readonly denom: string;
  readonly balance: bigint;
  /** Earned by providers so far. */
  readonly transferred: bigint;
  /** Height at which the money ends; 0 while nothing is paid. */
  readonly exhaustsAt: bigint;
}

export interface DeploymentRecord {
  readonly dseq: bigint;
  readonly state: "active" | "closed";
  /** Hash of the manifest. */
  readonly version: Uint8Array;
  readonly createdAt: bigint;
  readonly groups: readonly GroupRecord[];
  readonly escrow: EscrowRecord | undefined;
}

export interface OrderRecord {
  readonly id: OrderKey;
  readonly createdAt: bigint;
}

export interface BidRecord {
  readonly id: LeaseKey;
  /** Per block, for the whole group. */
  readonly price: DecimalCoin;
  readonly createdAt: bigint;
}

export interface LeaseRecord {
  readonly id: LeaseKey;
  readonly state: "active" | "insufficient_funds" | "closed";
  readonly price: DecimalCoin;
  readonly closeReason: string;
  /** Paid out to the provider. */
  readonly withdrawn: bigint;
  /** Earned and not yet paid out. */
  readonly accrued: bigint;
  /** The part of `accrued` that the last settlement has taken from the account already. */
  readonly settled: bigint;
}

/** What a provider says of itself. */
export type ProviderAttribute = Pick<Attribute, "key" | "value">;

export interface ProviderRecord {
  readonly address: string;
  /** `https://host:port` of its gateway. */
  readonly hostUri: string;
  readonly attributes: readonly ProviderAttribute[];
}

/** What the chain asks of the money behind a deployment. */
export interface DepositTerms {
  /** Least deposits, the default denomination first. */
  readonly minDeposits: readonly IntCoin[];
  /** A lease needs funds for so many blocks. */
  readonly startBlocks: bigint;
  /** What a deployment may ask for. */
  readonly limits: SdlLimits;
}

/** A transaction that a block holds and that did what it should. */
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
  /** The first height above `after`, when the chain gets there. Overcomes lost connections. */
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
  leases(dseq: bigint): Promise<readonly LeaseRecord[]>;
  providers(): Promise<readonly ProviderRecord[]>;
  provider(address: string): Promise<ProviderRecord | undefined>;
  /** Who has signed attributes of the provider. */
  auditors(provider: string): Promise<readonly string[]>;
  /** Fee of a transaction with so many messages. */
  fee(messages: number): readonly IntCoin[];
  /** Signs, sends and waits for the block. Rejects with the chain's codespace and code when it refused. */
  send(messages: readonly Any[]): Promise<CommittedMessages>;
}

/** Leases that are running. */
export function activeLeases(leases: readonly LeaseRecord[]): readonly LeaseRecord[] {
  return leases.filter(({ state }) => state === "active");
}
