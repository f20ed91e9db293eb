import { errorText } from "../../util/index.ts";
import { unlessInterrupted } from "../session/clock.ts";
import type { HostsRefusal } from "../session/gateway.ts";
import type { Offer } from "../session/offer.ts";
import type { Session } from "../session/session.ts";

/** Offers that can be accepted, and why others cannot. */
export interface Reached {
  readonly offers: readonly Offer[];
  /** Refusals of host names of the file. */
  readonly hosts: readonly HostsRefusal[];
}

interface Fault extends HostsRefusal {
  readonly isOfHosts: boolean;
}

/**
 * The first offers, up to a limit, of providers whose gateway answers with the certificate that the chain knows and who
 * would serve the group's host names, in order. A lease with any other provider would be useless.
 */
export async function reachable(
  session: Session,
  { group, offers }: { readonly group: string; readonly offers: readonly Offer[] },
  count: number,
): Promise<Reached> {
  const reached: Offer[] = [];
  const hosts: HostsRefusal[] = [];
  for (const offer of offers) {
    if (reached.length === count) break;
    const fault = await unlessInterrupted(() => faultOf(session, group, offer), session.request.signal);
    if (fault === undefined) {
      reached.push(offer);
      continue;
    }
    session.progress.note(`${offer.bid.id.provider} (${offer.host}) gets no lease: ${fault.reason}\n`);
    if (fault.isOfHosts) hosts.push(fault);
  }
  return { offers: reached, hosts };
}

async function faultOf(session: Session, group: string, { bid, host }: Offer): Promise<Fault | undefined> {
  const { market, openGateway, progress } = session;
  progress.waiting(`the gateway of ${bid.id.provider} at ${host}`);
  try {
    const provider = await market.provider(bid.id.provider);
    if (provider === undefined) return { reason: "it is no longer registered", isOfHosts: false };
    const gateway = openGateway(provider);
    await gateway.reach();
    const names = hostsOf(session, group);
    const refusal = names.length === 0 ? undefined : await gateway.hostsRefusal(bid.id, names);
    return refusal === undefined ? undefined : { ...refusal, isOfHosts: true };
  } catch (error) {
    return { reason: errorText(error), isOfHosts: false };
  }
}

/** Host names that the file asks for. */
function hostsOf({ request }: Session, group: string): readonly string[] {
  const services = request.sdl.manifest.find(({ name }) => name === group)?.services ?? [];
  return [...new Set(services.flatMap(({ expose }) => expose.flatMap(({ hosts }) => hosts ?? [])))];
}
