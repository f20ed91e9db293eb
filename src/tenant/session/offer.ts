import type { BidRecord } from "../../client/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";

/** An attribute that a provider declares. */
export type ProviderAttribute = Pick<Attribute, "key" | "value">;

/** A bid with the relevant facts about its provider. */
export interface Offer {
  readonly bid: BidRecord;
  /** Host of the provider's gateway. */
  readonly host: string;
  readonly attributes: readonly ProviderAttribute[];
  /** Accounts that have signed attributes of the provider. */
  readonly auditors: readonly string[];
}

/** `host:port` of a gateway address, or the address unchanged. */
export function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).host : uri;
}
