import type { LeaseRecord } from "../../client/index.ts";
import { errorText, toHex } from "../../util/index.ts";
import { checkInterrupted, sleep, unlessInterrupted } from "../session/clock.ts";
import { deployErrors } from "../session/errors.ts";
import type { LeaseState } from "../session/gateway.ts";
import type { Session } from "../session/session.ts";
import { type Running, type Serving, withAddresses } from "./addresses.ts";
import type { Leased } from "./manifest.ts";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
/** Time between two checks that the chain still has the leases. */
const CHAIN_LOOK_MS = 5_000;

/** Waits until every service of every lease runs and answers from outside. */
export async function waitReady(
  session: Session,
  dseq: bigint,
  leased: readonly Leased[],
): Promise<readonly Running[]> {
  const watch = new ReadyWatch(session, dseq);
  const running = await Promise.all(leased.map((each) => waitServices(session, each, watch)));
  await Promise.all(running.flatMap(({ state }) => tcpPorts(state)).map((port) => waitPort(session, port, watch)));
  const services = running.flatMap(({ state }) => state.services);
  session.progress.done(
    "ready",
    services.map(({ name, available, total }) => `${name} ${available}/${total}`).join(", "),
  );
  return withAddresses(session, running, watch);
}

async function waitServices(session: Session, leased: Leased, watch: ReadyWatch): Promise<Serving> {
  const { openGateway, request } = session;
  const gateway = openGateway(leased.provider);
  let errors: readonly string[] = [];
  const look = async (): Promise<Serving | string> => {
    const state = await gateway.status(leased.lease.id);
    if (state === undefined) return `${leased.provider.hostUri} to show the services`;
    errors = errorsOf(state);
    for (const error of errors) watch.tell(error);
    return missingServices(state, toHex(request.sdl.hash)) ?? { ...leased, state };
  };
  return watch.until(look, () => errors);
}

function errorsOf({ services, error }: LeaseState): readonly string[] {
  const own = services.flatMap((each) => (each.error === undefined ? [] : [`service ${each.name}: ${each.error}`]));
  return error === undefined ? own : [error, ...own];
}

/** What the manifest with this hash still lacks, in words; undefined when everything is ready. */
export function missingServices({ services, version }: LeaseState, hash: string): string | undefined {
  if (version !== hash) return "the provider to put the manifest in force";
  const late = services.filter(({ available, updated, total }) => available < total || updated < total);
  if (services.length === 0) return "the services";
  if (late.length === 0) return undefined;
  const parts = late.map(
    ({ name, available, updated, total }) =>
      `service ${name} (${Math.min(available, updated)} of ${total} replicas ready)`,
  );
  return parts.join(", ");
}

interface TcpPort {
  readonly host: string;
  readonly port: number;
}

/** Ports that a connection can show to be open; for UDP there is no such test. */
function tcpPorts({ ports }: LeaseState): readonly TcpPort[] {
  return ports.filter(({ proto }) => proto === "TCP");
}

async function waitPort(
  { probe, request, progress }: Session,
  { host, port }: TcpPort,
  watch: ReadyWatch,
): Promise<void> {
  progress.waiting(`port ${port} of ${host} to accept connections`);
  await watch.until(async () => {
    try {
      await probe.tcp(host, port, request.signal);
      return true;
    } catch (error) {
      return `port ${port} of ${host} to accept connections (${errorText(error)})`;
    }
  });
}

/** Repeats checks until they succeed, as long as there is time and the chain has the leases. */
export class ReadyWatch {
  readonly #session: Session;
  readonly #dseq: bigint;
  readonly #deadline: number;
  readonly #told = new Set<string>();
  #chainLook: number;

  constructor(session: Session, dseq: bigint) {
    this.#session = session;
    this.#dseq = dseq;
    this.#deadline = session.clock.now() + session.request.timeoutMs;
    this.#chainLook = session.clock.now() + CHAIN_LOOK_MS;
  }

  /** What a check finds; a text says what is still missing. The error repeats reasons that were reported before. */
  async until<T extends object | number | true>(
    look: () => Promise<T | string>,
    reasons: () => readonly string[] = () => [],
  ): Promise<T> {
    const { clock, request, progress } = this.#session;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const found = await unlessInterrupted(() => this.#tryLook(look), request.signal);
      if (typeof found !== "string") return found;
      progress.waiting(found);
      if (clock.now() + pause > this.#deadline) throw this.#late([found, ...reasons()].join("; "));
      await sleep(clock, pause, request.signal);
      await this.#checkLeases();
    }
  }

  /** Says something once. */
  tell(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#session.progress.note(`${text}\n`);
  }

  async #tryLook<T>(look: () => Promise<T | string>): Promise<T | string> {
    try {
      return await look();
    } catch (error) {
      checkInterrupted(this.#session.request.signal);
      return `an answer of the provider (${errorText(error)})`;
    }
  }

  async #checkLeases(): Promise<void> {
    const { clock, market } = this.#session;
    if (clock.now() < this.#chainLook) return;
    this.#chainLook = clock.now() + CHAIN_LOOK_MS;
    // A node that does not answer says nothing about the leases.
    const leases = await market.leases(this.#dseq).catch(() => []);
    const newest = newestByGroup(leases);
    const ended = newest.find(({ state }) => state !== "active");
    if (ended !== undefined) throw leaseEnded(ended);
  }

  #late(missing: string): Error {
    const waited = Math.round(this.#session.request.timeoutMs / 1000);
    const hint =
      `svc deploy logs --dseq ${this.#dseq} shows what the containers say, ` +
      `svc deploy update FILE --dseq ${this.#dseq} changes them, svc deploy close --dseq ${this.#dseq} ends them`;
    return deployErrors.notReady(`waited ${waited} s for ${missing}`, { hint });
  }
}

/** The last lease of each group. */
function newestByGroup(leases: readonly LeaseRecord[]): readonly LeaseRecord[] {
  const newest = new Map<number, LeaseRecord>();
  for (const lease of leases) {
    const before = newest.get(lease.id.gseq);
    const isNewer = before === undefined || lease.id.oseq > before.id.oseq;
    if (isNewer) newest.set(lease.id.gseq, lease);
  }
  return [...newest.values()];
}

function leaseEnded({ id, state, closeReason }: LeaseRecord): Error {
  if (state === "insufficient_funds") {
    const hint = `svc tx deployment deposit <amount> --dseq ${id.dseq} adds money, then run the same command again`;
    return deployErrors.leaseEnded(`the money of deployment ${id.dseq} has ended`, { hint });
  }
  const hint = "run the same command again for another lease, or close the deployment: svc deploy close";
  return deployErrors.leaseEnded(`provider ${id.provider} gave the reason "${closeReason}"`, { hint });
}
