import { ensureClientCertificate, tenantCredential } from "../../certs/index.ts";
import type { ChainClient, ChainQuery, GatewayCredential, TxSigner } from "../../client/index.ts";
import { steadyClock } from "../../util/index.ts";
import type { MarketTxOptions } from "../chain/chain-market.ts";
import { liveMarket } from "../chain/live-market.ts";
import { certifiedBy, liveGateway } from "../session/live-gateway.ts";
import type { DeployParts } from "../session/session.ts";
import { FileJournal } from "./journal.ts";
import { networkProbe } from "./probe.ts";

export interface LiveOptions {
  readonly home: string;
  readonly chain: ChainClient;
  /** Queries whose answers the node proves, for records that are relied on; the node is believed without. */
  readonly proven?: ChainQuery;
  readonly signer: TxSigner;
  readonly tx: MarketTxOptions;
  readonly signal: AbortSignal;
}

/** The parts of a deployment over the network. */
export async function liveParts(options: LiveOptions): Promise<DeployParts> {
  const { home, chain, proven = chain.query } = options;
  const credential = credentialOnce(options);
  return {
    market: await liveMarket(options),
    openGateway: (provider) => liveGateway({ target: certifiedBy(proven), credential }, provider),
    journal: new FileJournal(home),
    probe: networkProbe,
    clock: steadyClock,
    publishCertificate: () => ensureClientCertificate({ ...options, chain: { query: proven } }),
  };
}

/** The tenant's credential, read when a provider is asked for the first time: the certificate may be new by then. */
export function credentialOnce(
  options: Pick<LiveOptions, "home" | "chain" | "signer">,
): () => Promise<GatewayCredential> {
  let made: Promise<GatewayCredential> | undefined;
  return () => {
    made ??= tenantCredential(options);
    return made;
  };
}
