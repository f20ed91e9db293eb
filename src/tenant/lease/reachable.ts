import { errorText } from "../../util/index.ts";
import { unlessInterrupted } from "../session/clock.ts";
import type { Offer } from "../session/offer.ts";
import type { Session } from "../session/session.ts";

/**
 * The first offers, up to a limit, of providers whose gateway answers with the certificate that the chain knows, in
 * order. A lease with any other provider would be paid for and never receive its manifest.
 */
export async function reachable(session: Session, offers: readonly Offer[], count: number): Promise<readonly Offer[]> {
  const reached: Offer[] = [];
  for (const offer of offers) {
    if (reached.length === count) break;
    const fault = await unlessInterrupted(() => faultOf(session, offer), session.request.signal);
    if (fault === undefined) reached.push(offer);
    else session.progress.note(`${offer.bid.id.provider} (${offer.host}) gets no lease: ${fault}\n`);
  }
  return reached;
}

async function faultOf({ market, openGateway, progress }: Session, { bid, host }: Offer): Promise<string | undefined> {
  progress.waiting(`the gateway of ${bid.id.provider} at ${host}`);
  try {
    const provider = await market.provider(bid.id.provider);
    if (provider === undefined) return "it is no longer registered";
    await openGateway(provider).reach();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
