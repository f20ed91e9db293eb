import { gatewayClientErrors, type ProviderRecord, webGateway } from "../../client/index.ts";
import { errorText, isOneOf } from "../../util/index.ts";
import { t } from "../text/index.ts";
import { api, session } from "./chain.ts";

/** The URL of a provider's gateway for this page: the relay of `svc console`; else the provider's address for browsers. */
export function gatewayUrl(provider: ProviderRecord): string {
  if (session.peek()?.mode === "console") return api(`gateway/${provider.address}`).href;
  const url = webGateway(provider);
  if (url === undefined) throw gatewayClientErrors.noWebAddress(provider.address);
  return url;
}

/** Why a gateway said nothing. */
export function whyUnknown(error: unknown): string {
  return isOneOf([gatewayClientErrors.noWebAddress], error) ? t.gateway.beyond : errorText(error);
}
