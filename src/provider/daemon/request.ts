import type { ChainClient, ChainQuery, TxSigner } from "../../client/index.ts";
import type { Clock, Logger } from "../../util/index.ts";
import type { Finding } from "../control/index.ts";
import type { ProviderConfig } from "./config.ts";

/** The server certificate as stored on the chain, and its decrypted key; both PEM. */
export interface GatewayIdentity {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface ProviderRequest {
  readonly config: ProviderConfig;
  readonly client: ChainClient;
  /** Queries whose answers the node proves, for leases, their money and certificates; the node is believed without. */
  readonly proven?: ChainQuery;
  readonly signer: TxSigner;
  readonly identity: GatewayIdentity;
  /** Our own version, `v1.2.3`. */
  readonly version: string;
  readonly log: Logger;
  /** Time as the leases see it; the system's clock by default. */
  readonly clock?: Clock;
  /** From 0 up to 1: spreads the checks of leases over time. */
  readonly random?: () => number;
  /** Bytes that are free on the disk of the provider's folder; asks the system by default. */
  readonly freeDisk?: () => bigint;
  /** The checks of `svc provider check`, for the operator's page. */
  readonly examine?: () => Promise<readonly Finding[]>;
  /** Ends a start that still waits for the node; the running provider is ended by `stop`. */
  readonly signal?: AbortSignal;
}

/** A start that may have to wait for the node. */
export interface StartRequest extends ProviderRequest {
  /** Begins what does not need the node; called while it is waited for, and ends the start if it rejects. */
  readonly meanwhile?: () => Promise<void>;
}
