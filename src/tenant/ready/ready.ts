import { errorText, toHex } from "../../util/index.ts";
import type { LeaseState } from "../session/gateway.ts";
import type { ProbedSession, Session } from "../session/session.ts";
import { type Running, type Serving, withAddresses } from "./addresses.ts";
import { faultsOf } from "./faults.ts";
import type { Leased } from "./manifest.ts";
import { ReadyWatch } from "./watch.ts";

/** Waits until every service of every lease runs and, where a probe can ask, answers from outside. */
export async function waitReady(
  session: Session,
  dseq: bigint,
  leased: readonly Leased[],
): Promise<readonly Running[]> {
  const watch = new ReadyWatch(session, dseq);
  const running = await Promise.all(leased.map((each) => waitServices(session, each, watch)));
  const { probe } = session;
  if (probe !== undefined) {
    const ports = running.flatMap(({ state }) => tcpPorts(state));
    await Promise.all(ports.map((port) => waitPort({ ...session, probe }, port, watch)));
  }
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
    errors = faultsOf(state);
    for (const error of errors) watch.tell(error);
    return missingServices(state, toHex(request.sdl.hash)) ?? { ...leased, state };
  };
  return watch.until(look, { for: "services" }, { reasons: () => errors });
}

/** Services of this manifest that are not ready, in words; undefined if all are. */
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
  { probe, request, progress }: ProbedSession,
  { host, port }: TcpPort,
  watch: ReadyWatch,
): Promise<void> {
  const wait = { for: "port", host, port } as const;
  progress.waiting(`port ${port} of ${host} to accept connections`, wait);
  await watch.until(async () => {
    try {
      await probe.tcp(host, port, request.signal);
      return true;
    } catch (error) {
      return `port ${port} of ${host} to accept connections (${errorText(error)})`;
    }
  }, wait);
}
