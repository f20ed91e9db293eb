import type { SdlLimits } from "../../sdl/index.ts";
import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { LeaseKey, OrderKey } from "../../wire/index.ts";

/** The records of the marketplace as tenants and providers read them. Prices are per block. */

/** A group of a deployment: what one provider gets. */
export interface GroupRecord {
  readonly gseq: number;
  readonly state: "open" | "paused" | "insufficient_funds" | "closed";
  readonly spec: GroupSpec;
  /** Name of the reason why it stopped; `not_closed` while it has not. */
  readonly closeReason: string;
}

/** Money of a deployment at the last settlement. */
export interface EscrowRecord {
  readonly denom: string;
  readonly balance: bigint;
  /** Earned by providers so far. */
  readonly transferred: bigint;
  /** Height at which the funds run out; 0 while nothing is paid. */
  readonly exhaustsAt: bigint;
}

/** A deployment with its groups and its money. */
export interface DeploymentRecord {
  readonly dseq: bigint;
  readonly state: "active" | "closed";
  /** Hash of the manifest, 32 bytes. */
  readonly version: Uint8Array;
  readonly createdAt: bigint;
  readonly groups: readonly GroupRecord[];
  readonly escrow: EscrowRecord | undefined;
}

/** An order of a group, which providers bid on. */
export interface OrderRecord {
  readonly id: OrderKey;
  readonly state: "open" | "active" | "closed";
  readonly spec: GroupSpec;
  readonly createdAt: bigint;
  readonly expiresAt: bigint;
}

/** A provider's bid on an order. */
export interface BidRecord {
  readonly id: LeaseKey;
  readonly state: "open" | "active" | "lost" | "closed";
  /** For the whole group. */
  readonly price: DecimalCoin;
  readonly createdAt: bigint;
}

/** A lease: the bid that a tenant accepted. */
export interface LeaseRecord {
  readonly id: LeaseKey;
  /** Both states other than `active` are final. */
  readonly state: "active" | "insufficient_funds" | "closed";
  readonly price: DecimalCoin;
  readonly createdAt: bigint;
  /** Height at which it ended, 0 while it is active. */
  readonly closedOn: bigint;
  readonly closeReason: string;
}

/** Earnings of a lease. */
export interface PaymentRecord {
  readonly rate: DecimalCoin;
  /** Paid out to the provider. */
  readonly withdrawn: bigint;
  /** Earned but not yet paid out. */
  readonly accrued: bigint;
  /** The part of `accrued` that the last settlement has already taken from the account. */
  readonly settled: bigint;
}

/** A lease with its earnings. */
export interface PaidLease extends LeaseRecord {
  readonly payment: PaymentRecord;
}

/** A provider's record of itself. */
export interface ProviderRecord {
  readonly address: string;
  /** `https://host:port` of its gateway. */
  readonly hostUri: string;
  readonly attributes: readonly Attribute[];
}

/** A certificate that an account published. */
export interface CertificateRecord {
  readonly state: "valid" | "revoked";
  /** The certificate as it was published. */
  readonly pem: Uint8Array;
}

/** The chain's requirements of bids. */
export interface MarketParams {
  readonly orderMaxBids: number;
  /** Minimum deposits, the default denomination first. */
  readonly bidMinDeposits: readonly IntCoin[];
}

/** The chain's requirements of a deployment's money. */
export interface DepositTerms {
  /** Minimum deposits, the default denomination first. */
  readonly minDeposits: readonly IntCoin[];
  /** A lease needs funds for this many blocks. */
  readonly startBlocks: bigint;
  /**
   * New deployments take the height and this as their number: 0, except on a chain that continues with the state of
   * another.
   */
  readonly numberBase: bigint;
  /** Limits on what a deployment may request. */
  readonly limits: SdlLimits;
}
