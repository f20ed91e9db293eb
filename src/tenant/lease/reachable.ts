import { isUnproven } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import { sleep, unlessInterrupted } from "../session/clock.ts";
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

interface Failed {
  readonly offer: Offer;
  readonly fault: Fault;
}

/** How long the gateways of bidders are asked until one answers: a provider may be restarting. */
const ASK_MS = 30_000;
const PAUSE_MS = 2_000;

/**
 * The first offers, up to a limit, of providers whose gateway answers with the certificate that the chain knows and who
 * would serve the group's host names, in order. A lease with any other provider would be useless. If no gateway answers,
 * all are asked again for a while.
 */
export async function reachable(
  session: Session,
  { group, offers }: { readonly group: string; readonly offers: readonly Offer[] },
  count: number,
): Promise<Reached> {
  const { clock, progress, request } = session;
  const deadline = clock.now() + ASK_MS;
  let refusing: readonly Failed[] = [];
  for (let asked = offers; ; ) {
    const { reached, failed } = await ask(session, { group, offers: asked }, count);
    refusing = [...refusing, ...failed.filter(({ fault }) => fault.isOfHosts)];
    const away = failed.filter(({ fault }) => !fault.isOfHosts);
    if (reached.length > 0 || away.length === 0 || clock.now() + PAUSE_MS > deadline) {
      for (const { offer, fault } of [...refusing, ...away]) tellUnusable(session, offer, fault.reason);
      return { offers: reached, hosts: refusing.map(({ fault }) => fault) };
    }
    asked = away.map(({ offer }) => offer);
    const provider = away[0]?.offer.bid.id.provider ?? "";
    const reason = away[0]?.fault.reason ?? "";
    progress.waiting(`the gateway of a bidder (${reason})`, { for: "gateway", provider, reason });
    await sleep(clock, PAUSE_MS, request.signal);
  }
}

function tellUnusable({ progress }: Session, { bid, host }: Offer, reason: string): void {
  const { provider } = bid.id;
  progress.note(`${provider} (${host}) gets no lease: ${reason}\n`, { kind: "unusable", provider, reason });
}

/** Asks the gateways in order, until enough have answered. */
async function ask(
  session: Session,
  { group, offers }: { readonly group: string; readonly offers: readonly Offer[] },
  count: number,
): Promise<{ readonly reached: readonly Offer[]; readonly failed: readonly Failed[] }> {
  const reached: Offer[] = [];
  const failed: Failed[] = [];
  for (const offer of offers) {
    if (reached.length === count) break;
    const fault = await unlessInterrupted(() => faultOf(session, group, offer), session.request.signal);
    if (fault === undefined) reached.push(offer);
    else failed.push({ offer, fault });
  }
  return { reached, failed };
}

async function faultOf(session: Session, group: string, { bid, host }: Offer): Promise<Fault | undefined> {
  const { market, openGateway, progress } = session;
  progress.waiting(`the gateway of ${bid.id.provider} at ${host}`, { for: "gateway", provider: bid.id.provider });
  try {
    const provider = await market.provider(bid.id.provider);
    if (provider === undefined) return { reason: "it is no longer registered", isOfHosts: false };
    const gateway = openGateway(provider);
    await gateway.reach();
    const names = hostsOf(session, group);
    const refusal = names.length === 0 ? undefined : await gateway.hostsRefusal(bid.id, names);
    return refusal === undefined ? undefined : { ...refusal, isOfHosts: true };
  } catch (error) {
    if (isUnproven(error)) throw error;
    return { reason: errorText(error), isOfHosts: false };
  }
}

/** Host names that the file asks for. */
function hostsOf({ request }: Session, group: string): readonly string[] {
  const services = request.sdl.manifest.find(({ name }) => name === group)?.services ?? [];
  return [...new Set(services.flatMap(({ expose }) => expose.flatMap(({ hosts }) => hosts ?? [])))];
}
