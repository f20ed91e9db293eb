import type { Manifest } from "../../sdl/index.ts";
import { append, errorText } from "../../util/index.ts";
import { checkInterrupted } from "../session/clock.ts";
import type { LeaseState } from "../session/gateway.ts";
import { isFromService } from "../session/probe.ts";
import type { ProbedSession, Session } from "../session/session.ts";
import { LeaseFaults } from "./faults.ts";
import type { Leased } from "./manifest.ts";
import type { ReadyWatch } from "./watch.ts";

/** A lease whose services the provider calls ready. */
export interface Serving extends Leased {
  readonly state: LeaseState;
}

/** A lease whose services answer. */
export interface Running extends Serving {
  /** Addresses that open on this machine, by service; where nothing can be asked, all that the provider names. */
  readonly open: ReadonlyMap<string, readonly string[]>;
}

const UNREACHED =
  "the containers run, but their address does not answer from here: ask the provider about its DNS and firewall, " +
  "or take another one (svc deploy FILE --new --bid ADDRESS)";

interface Answered {
  readonly url: string;
  readonly status: number;
  /** Whether every program finds the host. */
  readonly isPlain: boolean;
}

/**
 * Waits until every address that the provider made answers. The tenant's own host names are tried once: their DNS
 * records are up to the tenant. Without a probe the provider's addresses are believed.
 */
export async function withAddresses(
  session: Session,
  serving: readonly Serving[],
  watch: ReadyWatch,
): Promise<readonly Running[]> {
  const answers: Answered[] = [];
  const own = ownHosts(session.request.sdl.manifest);
  const { probe } = session;
  const result = await Promise.all(
    serving.map(async (lease): Promise<Running> => {
      tellWithheld(lease, own, watch);
      const { services } = lease.state;
      if (probe === undefined) return { ...lease, open: new Map(services.map(({ name, urls }) => [name, urls])) };
      const open = new Map<string, readonly string[]>();
      const faults = new LeaseFaults(session, lease, watch);
      for (const { name, urls } of services) {
        const answered = await openAddresses({ ...session, probe }, { urls, own, faults }, watch);
        append(answers, answered);
        open.set(name, plainFirst(answered));
      }
      return { ...lease, open };
    }),
  );
  tellAnswers(session, answers);
  return result;
}

/** Host names that the deployment file asks for. */
function ownHosts(manifest: Manifest): ReadonlySet<string> {
  const exposes = manifest.flatMap(({ services }) => services.flatMap(({ expose }) => expose));
  return new Set(exposes.flatMap(({ hosts }) => hosts ?? []).map((host) => host.toLowerCase().replace(/\.$/, "")));
}

/** Names of the file that belong to another deployment; names that the file does not have are not the tenant's. */
function tellWithheld({ lease, state }: Serving, own: ReadonlySet<string>, watch: ReadyWatch): void {
  for (const host of (state.withheld ?? []).filter((each) => own.has(each))) {
    const migrate = `svc provider migrate-hostnames ${host} --dseq ${lease.id.dseq}`;
    watch.tell(`${host} belongs to an older deployment of yours: ${migrate} migrates it`);
  }
  for (const name of state.withheldEndpoints ?? []) {
    const migrate = `svc provider migrate-endpoints ${name} --dseq ${lease.id.dseq}`;
    watch.tell(`leased address ${name} belongs to an older deployment of yours: ${migrate} migrates it`);
  }
  for (const text of state.unassigned ?? []) watch.tell(`leased address does not route here yet: ${text}`);
}

interface ServiceAddresses {
  readonly urls: readonly string[];
  /** Host names of the tenant's own. */
  readonly own: ReadonlySet<string>;
  readonly faults: LeaseFaults;
}

async function openAddresses(
  session: ProbedSession,
  { urls, own, faults }: ServiceAddresses,
  watch: ReadyWatch,
): Promise<readonly Answered[]> {
  const made = urls.filter((url) => !own.has(new URL(url).hostname));
  const named = urls.filter((url) => own.has(new URL(url).hostname));
  const late = { hint: UNREACHED, reasons: () => faults.last };
  const lookOnce = async (url: string): Promise<Answered | string> => {
    const found = await look(session, url);
    if (typeof found === "string") await faults.ask();
    return found;
  };
  const waited = await Promise.all(made.map((url) => watch.until(() => lookOnce(url), { for: "address", url }, late)));
  const tried = await Promise.all(named.map((url) => look(session, url)));
  for (const [at, found] of tried.entries()) {
    const { hostname } = new URL(named[at] ?? "");
    if (typeof found === "string")
      watch.tell(`${hostname} does not resolve to the provider yet: point its DNS record there`);
  }
  return [...waited, ...tried.filter((found) => typeof found !== "string")];
}

/** The answer of an address, or the reason to wait. */
async function look({ probe, request }: ProbedSession, url: string): Promise<Answered | string> {
  try {
    const answer = await probe.http(url, request.signal);
    if (!isFromService(answer)) return `${url} to answer (now ${answer.status})`;
    return { url, status: answer.status, isPlain: answer.isPlain };
  } catch (error) {
    checkInterrupted(request.signal);
    return `${url} to answer (${errorText(error)})`;
  }
}

/** Addresses that every program can open, or else addresses that browsers can. */
function plainFirst(answered: readonly Answered[]): readonly string[] {
  const plain = answered.filter(({ isPlain }) => isPlain);
  return (plain.length > 0 ? plain : answered).map(({ url }) => url);
}

function tellAnswers({ progress }: Session, answers: readonly Answered[]): void {
  if (answers.length === 0) return;
  const texts = answers.map(({ url, status }) => `${url} answers ${status}`).join(", ");
  if (answers.some(({ status }) => status === 200)) progress.done("first-200", texts);
  else progress.note(texts);
}
