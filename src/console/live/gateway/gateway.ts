import { GatewayClient, gatewayClientErrors, type ProviderRecord, webGateway } from "../../../client/index.ts";
import { errorText, isOneOf } from "../../../util/index.ts";
import { t } from "../../text/index.ts";
import type { Wallet } from "../../wallet/wallet.ts";
import { api, session } from "../chain.ts";

/** The URL of a provider's gateway for this page: the relay of `svc console`; else the provider's address for browsers. */
export function gatewayUrl(provider: ProviderRecord): string {
  if (session.peek()?.mode === "console") return api(`gateway/${provider.address}`).href;
  const url = webGateway(provider);
  if (url === undefined) throw gatewayClientErrors.noWebAddress(provider.address);
  return url;
}

/** Whether this page has a way to a provider's gateway. */
export function hasWay(provider: ProviderRecord): boolean {
  return session.peek()?.mode === "console" || webGateway(provider) !== undefined;
}

/** A provider's gateway for a tenant. The first one of an account opens its session, which the wallet may ask about. */
export async function gatewayFor(account: Wallet, provider: ProviderRecord): Promise<GatewayClient> {
  const url = gatewayUrl(provider);
  const { gatewayCredential } = await import("./session.ts");
  return new GatewayClient({ provider: provider.address, url, credential: await gatewayCredential(account) });
}

/** Why a gateway said nothing. */
export function whyUnknown(error: unknown): string {
  return isOneOf([gatewayClientErrors.noWebAddress], error) ? t.gateway.beyond : errorText(error);
}
