import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { ManifestService } from "../../sdl/index.ts";
import { parseNetworks } from "../../util/servers/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import {
  type ClusterDriver,
  type ClusterProbe,
  type LeaseSpec,
  PROBE_ANSWER,
  PROBE_HOST,
  PROBE_MOUNT,
  PROBE_PORT,
  probeLease,
} from "../cluster/index.ts";
import { CONNECTIONS_PER_ADDRESS, Ingress, ingressRouter, type LeaseRouter } from "../ingress/index.ts";
import { type HostFault, hostFault } from "../reasons.ts";

const HOST = "127.0.0.1";

/** Parts of a trial. */
export interface TrialOptions {
  readonly driver: Pick<ClusterDriver, "deploy" | "teardown">;
  readonly probe: ClusterProbe;
  readonly router: Pick<LeaseRouter, "route" | "unroute">;
  /** Where the ingress answers without TLS. */
  readonly ingress: () => { readonly host: string; readonly port: number };
  readonly provider: string;
  /** Milliseconds that the trial may take. */
  readonly timeoutMs?: number;
  /** Breaks the trial off. */
  readonly signal?: AbortSignal;
}

/** A busy machine starts containers in seconds. */
const TIMEOUT_MS = 60_000;
const BETWEEN_VISITS_MS = 20;
const VISIT_MS = 5_000;
const MIB = 1 << 20;

/**
 * Runs a container as a tenant's is run: with network, limits, a volume, and a request through the ingress. `tell` gets the
 * fault, or undefined if it answered. Resolves when nothing of it is left; what an earlier trial left goes first.
 */
export async function tryContainer(options: TrialOptions, tell: (fault?: HostFault) => void): Promise<void> {
  const { driver, router, probe, provider } = options;
  const lease = probeLease(provider);
  const end = new AbortController();
  options.signal?.addEventListener("abort", () => end.abort());
  try {
    await driver.teardown(lease);
    tell(await run(options, lease, end.signal));
  } catch (error) {
    tell(probe.explain(error));
  } finally {
    end.abort();
    await router.unroute(lease).catch(() => {});
    // The next trial, or the next start of the driver, removes the rest.
    await driver.teardown(lease).catch(() => {});
  }
}

async function run(options: TrialOptions, lease: LeaseKey, signal: AbortSignal): Promise<HostFault | undefined> {
  const { driver, router, probe, timeoutMs = TIMEOUT_MS } = options;
  const image = await probe.image();
  if (image === undefined) return undefined;
  let hasStarted = false;
  let stop = (): void => {};
  const failed = new Promise<HostFault>((resolve) => {
    stop = probe.watch((news) => {
      if (news.kind === "returned" || news.lease.dseq !== lease.dseq) return;
      if (news.kind === "started") hasStarted = true;
      else resolve(hostFault(news.reason, news.cause));
    });
  });
  try {
    await driver.deploy(specOf(lease, image));
    const { httpOptions } = EXPOSE;
    const target = { lease, service: SERVICE, port: PROBE_PORT, options: httpOptions };
    await router.route(lease, [{ target, hosts: [PROBE_HOST] }], {});
    const late = pause(timeoutMs, undefined, { signal, ref: false }).then(
      () => hostFault(hasStarted ? "ingress" : "timeout", `after ${timeoutMs / 1000} s`),
      () => undefined,
    );
    return await Promise.race([failed, late, answered(options, signal)]);
  } finally {
    stop();
  }
}

/** Resolves when the container answers through the ingress, or the trial is over. */
async function answered({ ingress }: TrialOptions, signal: AbortSignal): Promise<undefined> {
  while (!signal.aborted && (await visit(ingress(), signal)) !== PROBE_ANSWER) {
    await pause(BETWEEN_VISITS_MS, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** The text of the page; empty if there is none. */
function visit({ host, port }: ReturnType<TrialOptions["ingress"]>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const options = { host, port, headers: { host: PROBE_HOST }, agent: false, timeout: VISIT_MS, signal };
    const call = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        if (text.length <= PROBE_ANSWER.length) text += part;
      });
      response.on("end", () => resolve(response.statusCode === 200 ? text : ""));
      response.on("error", () => resolve(""));
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(""));
    call.end();
  });
}

const SERVICE = "probe";

const EXPOSE: ManifestService["expose"][number] = {
  port: PROBE_PORT,
  externalPort: 80,
  proto: "TCP",
  service: "",
  global: true,
  hosts: null,
  httpOptions: { maxBodySize: MIB, readTimeout: VISIT_MS, sendTimeout: VISIT_MS, nextTries: 1, nextTimeout: 0 },
  ip: "",
  endpointSequenceNumber: 0,
};

/** Small, but with all that a tenant's container has. */
function specOf(id: LeaseKey, image: string): LeaseSpec {
  const bytes = (mebibytes: number) => ({ val: String(mebibytes * MIB) });
  const service: ManifestService = {
    name: SERVICE,
    image,
    command: null,
    args: null,
    env: null,
    resources: {
      id: 1,
      cpu: { units: { val: "500" } },
      memory: { size: bytes(64) },
      storage: [
        { name: "default", size: bytes(16) },
        { name: "data", size: bytes(4), attributes: [{ key: "persistent", value: "false" }] },
      ],
      gpu: { units: { val: "0" } },
      endpoints: [],
    },
    count: 1,
    expose: [EXPOSE],
    params: { storage: [{ name: "data", mount: PROBE_MOUNT, readOnly: false }] },
    credentials: null,
  };
  const group = { name: SERVICE, services: [service] };
  return { id, group, version: "00".repeat(32), generation: 1, hosts: new Map(), ports: [] };
}

/** Tries a container beside no running provider, through an ingress of its own. Resolves with the fault, or with undefined. */
export async function tryHost(
  driver: ClusterDriver,
  { provider, timeoutMs }: { readonly provider: string; readonly timeoutMs: number },
): Promise<HostFault | undefined> {
  const { routing, probe } = driver;
  if (routing.ingress === "cluster" || probe === undefined) return undefined;
  const nobody = parseNetworks([]);
  const clients = { connectionsPerAddress: CONNECTIONS_PER_ADDRESS, trustedProxies: nobody, forwardedFrom: nobody };
  const ingress = new Ingress({ backends: routing.backends.bind(routing), host: HOST, port: 0, clients });
  const port = await ingress.listen();
  let found: HostFault | undefined;
  const router = ingressRouter(ingress, { port, loopbackPorts: false });
  const place = { host: HOST, port };
  await tryContainer({ driver, probe, router, ingress: () => place, provider, timeoutMs }, (fault) => {
    found = fault;
  });
  await ingress.close();
  return found;
}
