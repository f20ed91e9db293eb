import {
  type ChainClient,
  type ChainQuery,
  type GatewayCredential,
  gatewayClientErrors,
  type ProviderRecord,
  type TxSigner,
} from "../client/index.ts";
import { loadSdl } from "../sdl/index.ts";
import { steadyClock } from "../util/index.ts";
import { liveMarket, type MarketTxOptions } from "./chain/live-market.ts";
import { type Journal, memoryJournal } from "./session/journal.ts";
import { liveGateway } from "./session/live-gateway.ts";
import { type DeployChoices, type DeployParts, type DeployRequest, deploySettings } from "./session/session.ts";

/** Chain, account and gateways of a page that deploys. */
export interface WebPartsOptions {
  readonly chain: ChainClient;
  /** Queries whose answers the node proves, for records that are relied on; the node is believed without. */
  readonly proven?: ChainQuery;
  readonly signer: TxSigner;
  /** Makes the tokens for gateways. */
  readonly credential: GatewayCredential;
  /** URL of a provider's gateway for browsers, or of a relay to it; undefined if it has none. */
  readonly gatewayUrl: (provider: ProviderRecord) => string | undefined;
  /** Records of begun deployments, by which an interrupted one is continued; lost with the page when left out. */
  readonly journal?: Journal;
  /** Gas, fees and the like of the transactions. */
  readonly tx?: MarketTxOptions;
  /** Ends the wait for a transaction. */
  readonly signal?: AbortSignal;
}

/** The parts of a deployment for a page: no files, no certificate, no probe of services from outside. */
export async function webParts(options: WebPartsOptions): Promise<DeployParts> {
  const { gatewayUrl, credential, journal = memoryJournal(), tx = {} } = options;
  const { signal = new AbortController().signal } = options;
  const target = (provider: ProviderRecord) => {
    const url = gatewayUrl(provider);
    if (url === undefined) throw gatewayClientErrors.noWebAddress(provider.address);
    return { provider: provider.address, url };
  };
  return {
    market: await liveMarket({ ...options, tx, signal }),
    openGateway: (provider) => liveGateway({ target, credential: async () => credential }, provider),
    journal,
    clock: steadyClock,
    publishCertificate: async () => undefined,
  };
}

/** A deployment file that a page has as a text. */
export interface TextSource extends DeployChoices {
  /** Name of the file; a later run with the same name continues an interrupted one. */
  readonly name: string;
  readonly text: string;
}

/**
 * The request for a deployment file in a text, with the defaults filled in.
 * @throws SdlError with every fault of the text
 */
export function textRequest(source: TextSource, signal: AbortSignal = new AbortController().signal): DeployRequest {
  const { name: file, text } = source;
  const reread: DeployRequest["reread"] = (chain) => loadSdl(text, { file, chain });
  return { ...deploySettings(source), file, sdl: loadSdl(text, { file }), reread, signal };
}
