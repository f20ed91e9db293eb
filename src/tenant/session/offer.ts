import type { BidRecord, ProviderAttribute } from "./market.ts";

/** A bid with what is worth knowing of its provider. */
export interface Offer {
  readonly bid: BidRecord;
  /** Host of the provider's gateway. */
  readonly host: string;
  readonly attributes: readonly ProviderAttribute[];
  /** Accounts that have signed attributes of the provider. */
  readonly auditors: readonly string[];
}

/** `host:port` of a gateway address, or the address as it is. */
export function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).host : uri;
}
