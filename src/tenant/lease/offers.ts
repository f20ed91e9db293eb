import type { BidRecord, ProviderRecord } from "../../client/index.ts";
import { hostOf, type Offer } from "../session/offer.ts";
import type { Session } from "../session/session.ts";

/** Bids with the chain's facts about their providers. */
export async function offersOf({ market }: Session, bids: readonly BidRecord[]): Promise<readonly Offer[]> {
  const addresses = [...new Set(bids.map(({ id }) => id.provider))];
  const known = new Map(await Promise.all(addresses.map(async (address) => [address, await look(address)] as const)));
  return bids.map((bid) => offer(bid, known.get(bid.id.provider)));

  async function look(address: string): Promise<Known> {
    const [provider, auditors] = await Promise.all([market.provider(address), market.auditors(address)]);
    return { provider, auditors };
  }
}

interface Known {
  readonly provider: ProviderRecord | undefined;
  readonly auditors: readonly string[];
}

function offer(bid: BidRecord, known: Known | undefined): Offer {
  const { provider, auditors = [] } = known ?? {};
  return {
    bid,
    host: provider === undefined ? "-" : hostOf(provider.hostUri),
    attributes: provider?.attributes ?? [],
    auditors: [...new Set(auditors)],
  };
}
