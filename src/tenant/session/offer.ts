import type { BidRecord } from "../../client/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";

/** What a provider says about itself. */
export type ProviderAttribute = Pick<Attribute, "key" | "value">;

/** A bid with what is worth knowing about its provider. */
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
