import type { BidRecord, ProviderRecord } from "../../client/index.ts";
import { formatPrice, priceOverTime } from "../../sdl/index.ts";
import { printable, textTable } from "../../util/index.ts";
import { hostOf, type Offer, type ProviderAttribute } from "../session/offer.ts";
import type { Session } from "../session/session.ts";

const HEADINGS = ["", "PROVIDER", "HOST", "PER BLOCK", "PER HOUR", "PER MONTH", "ATTRIBUTES", "AUDITED BY"] as const;
const MAX_ATTRIBUTES = 4;
const MAX_CELL = 60;

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

/** The offers of one group, numbered for the choice. Prices over time follow the measured block time. */
export function bidTable(offers: readonly Offer[], blockSeconds: number): string {
  return textTable([HEADINGS, ...offers.map((offer, at) => offerRow(offer, at + 1, blockSeconds))]);
}

function offerRow({ bid, host, attributes, auditors }: Offer, number: number, blockSeconds: number): string[] {
  const { denom, perBlock, perHour, perMonth } = priceOverTime(bid.price, blockSeconds);
  const prices = [perBlock, perHour, perMonth].map((amount) => formatPrice({ denom, amount }));
  const audited = auditors.length === 0 ? "-" : auditors.map(shortAddress).join(" ");
  return [`${number}`, bid.id.provider, cell(host), ...prices, cell(attributeText(attributes)), audited];
}

/** A provider's attributes as text; lists of capabilities are for machines. */
export function attributeText(attributes: readonly ProviderAttribute[]): string {
  const shown = attributes.filter(({ key }) => !key.startsWith("capabilities/"));
  if (shown.length === 0) return "-";
  const more = shown.length > MAX_ATTRIBUTES ? ` +${shown.length - MAX_ATTRIBUTES}` : "";
  const texts = shown.slice(0, MAX_ATTRIBUTES).map(({ key, value }) => `${key}=${value}`);
  return texts.join(" ") + more;
}

/** `svc1abcd..wxyz`. */
export function shortAddress(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}..${address.slice(-4)}`;
}

/** Untrusted text, made unable to move the cursor or fill the screen. */
function cell(text: string): string {
  const plain = printable(text).replaceAll(/\s+/g, " ");
  return plain.length <= MAX_CELL ? plain : `${plain.slice(0, MAX_CELL - 2)}..`;
}
