import { join } from "node:path";
import { errorText, type Logger, makePrivateDirectory } from "../../util/index.ts";
import { listenError } from "../../util/servers/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { BackendRouting, CarriedPort, PortCarrier } from "../cluster/index.ts";
import { type Challenges, httpOrigin, type LeaseRouter, optionsNotKept } from "../ingress/index.ts";
import { killPlane, type PlaneConnection, runningPlanes } from "./connection.ts";
import { backendKey } from "./data-plane.ts";
import { LaunchFailure, launchPlane } from "./launch.ts";
import {
  PLANE_FOLDER,
  type PlaneBackends,
  type PlaneCall,
  type PlaneCalls,
  type PlaneProgram,
  type PlaneRoutes,
  type PlaneSettings,
  type PlaneTable,
} from "./protocol.ts";

/** The default of `helloMs`. */
const HELLO_MS = 20_000;
const AGAIN_MS = { first: 50, most: 5_000 };

export interface PlaneLinkOptions {
  readonly stateDir: string;
  readonly settings: PlaneSettings;
  readonly program: PlaneProgram;
  readonly log: Logger;
  /** Milliseconds that a plane has to say who it is before it is killed, and between two such questions; 20,000 by default. */
  readonly helloMs?: number;
}

/**
 * The daemon's side of the data plane: finds the running plane or starts one, replaces one of another version without a
 * lost connection, and starts it again with all that it had been sent when it ends.
 */
export class PlaneLink {
  readonly #options: PlaneLinkOptions;
  readonly #routes = new Map<string, PlaneRoutes>();
  readonly #backends = new Map<string, readonly string[]>();
  readonly #ports = new Map<string, readonly CarriedPort[]>();
  /** Leases may still come that the plane has to route. */
  #isPartial = true;
  #ready: Promise<PlaneConnection>;
  #closed = false;
  #launched = false;

  private constructor(options: PlaneLinkOptions) {
    this.#options = options;
    this.#ready = this.#open();
  }

  static async open(options: PlaneLinkOptions): Promise<PlaneLink> {
    const link = new PlaneLink(options);
    await link.#ready;
    return link;
  }

  /** Port of the ingress. */
  async port(): Promise<number> {
    return (await this.#call("hello", null)).port;
  }

  /** Node ports of a driver. */
  get carrier(): PortCarrier {
    return {
      carry: async (lease, ports) => {
        if (ports.length === 0) this.#ports.delete(lease);
        else this.#ports.set(lease, ports);
        return new Map(await this.#call("carry", { lease, ports }));
      },
      // The plane keeps running.
      close: () => {},
    };
  }

  /** Where an ACME server finds the answers to its challenges. */
  get challenges(): Challenges {
    const tell = async (token: string, answer: string | null) =>
      void (await this.#call("challenge", { token, answer }));
    return { show: tell, hide: (token) => tell(token, null) };
  }

  /** Routes to a cluster whose replicas have addresses of their own. */
  router(routing: BackendRouting): LeaseRouter {
    const { port, routesFile } = this.#options.settings.ingress;
    routing.watch((id) => this.#moved(routing, id));
    return {
      route: async (id, services, loopback) => {
        const text = formatLeaseId(id);
        this.#routes.set(text, { id, services, loopback });
        const ports = await this.#call("route", { id, services, loopback, backends: this.#look(routing, id) });
        if (this.#routes.has(text)) this.#routes.set(text, { id, services, loopback: ports });
        return ports;
      },
      unroute: async (id) => {
        this.#forgetRoutes(formatLeaseId(id));
        await this.#call("unroute", { id });
      },
      url: (host) => `${httpOrigin(host, port)}/`,
      ...(routesFile === undefined ? {} : { notKept: optionsNotKept }),
    };
  }

  /** The plane keeps only these leases: whatever else it carries no longer belongs to any lease. */
  async retain(leases: readonly string[], names: readonly string[]): Promise<void> {
    for (const id of this.#routes.keys()) if (!leases.includes(id)) this.#forgetRoutes(id);
    for (const name of this.#ports.keys()) if (!names.includes(name)) this.#ports.delete(name);
    this.#isPartial = false;
    await this.#call("retain", { leases, names });
  }

  #forgetRoutes(id: string): void {
    this.#routes.delete(id);
    for (const key of this.#backends.keys()) if (key.startsWith(`${id}/`)) this.#backends.delete(key);
  }

  /** A lease whose records the daemon has lost stays served, also when the plane is started again. */
  #learn({ routes, backends, ports, isPartial = false }: PlaneTable): void {
    this.#isPartial &&= isPartial;
    for (const each of routes) setMissing(this.#routes, formatLeaseId(each.id), each);
    for (const [key, addresses] of Object.entries(backends)) setMissing(this.#backends, key, addresses);
    for (const [lease, carried] of ports) setMissing(this.#ports, lease, carried);
  }

  /** Disconnects from the plane, which keeps running. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#ready.then(
      (plane) => plane.close(),
      () => {},
    );
  }

  /** Ends the plane if this link started it, after a start of the provider that failed. */
  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const plane = await this.#ready.catch(() => undefined);
    if (this.#launched) await plane?.call("end", null).catch(() => {});
    plane?.close();
  }

  /** Undefined until the lease has been seen: until then, what the plane already knows is right. */
  #look(routing: BackendRouting, id: LeaseKey): PlaneBackends | undefined {
    const routes = this.#routes.get(formatLeaseId(id));
    if (routes === undefined || !routing.isSeen(id)) return undefined;
    const backends = routes.services.map(({ target: { service, port } }) => {
      const key = backendKey(id, service, port);
      const addresses = routing.backends(id, service, port);
      this.#backends.set(key, addresses);
      return [key, addresses] as const;
    });
    return Object.fromEntries(backends);
  }

  #moved(routing: BackendRouting, id: LeaseKey): void {
    const before = this.#text(id);
    const backends = this.#look(routing, id);
    if (backends === undefined || this.#text(id) === before) return;
    this.#call("backends", backends).catch((error: unknown) => {
      // The plane is sent everything when it is back.
      this.#options.log.debug("data plane not updated", { err: errorText(error) });
    });
  }

  #text(id: LeaseKey): string {
    const prefix = `${formatLeaseId(id)}/`;
    return JSON.stringify([...this.#backends].filter(([key]) => key.startsWith(prefix)));
  }

  async #call<C extends PlaneCall>(call: C, request: PlaneCalls[C][0]): Promise<PlaneCalls[C][1]> {
    return (await this.#ready).call(call, request);
  }

  async #open(): Promise<PlaneConnection> {
    const { stateDir, program, settings, log } = this.#options;
    makePrivateDirectory(join(stateDir, PLANE_FOLDER));
    let plane = await this.#find();
    if (plane !== undefined) {
      const { identity, pid } = await plane.call("hello", null);
      if (identity === program.identity) {
        log.info("data plane found", { pid });
        this.#learn(await plane.call("table", null));
        return this.#watch(plane);
      }
      log.info("data plane of another version or with other settings is replaced", { pid });
      await plane.call("replace", { program, settings }).catch((error: unknown) => {
        throw this.#failure(error);
      });
      plane.close();
      plane = await this.#find();
    } else {
      const order = { stateDir, identity: program.identity, settings, table: this.#table() };
      await launchPlane(program, order, { http: new Map(), ports: new Map() }).catch((error: unknown) => {
        throw this.#failure(error);
      });
      this.#launched = true;
      plane = await this.#find();
    }
    if (plane === undefined) throw new Error("the data plane that was started does not answer");
    log.info("data plane started", { pid: (await plane.call("hello", null)).pid });
    this.#learn(await plane.call("table", null));
    return this.#watch(plane);
  }

  /**
   * The listening plane; of several after a crash, the one with our identity. A plane that does not answer serves no
   * requests and holds the ports: it is killed.
   */
  async #find(): Promise<PlaneConnection | undefined> {
    const { stateDir, helloMs = HELLO_MS } = this.#options;
    const planes = await runningPlanes(stateDir);
    const identities = await Promise.all(
      planes.map((plane) => plane.call("hello", null, helloMs).catch(() => undefined)),
    );
    const own = planes.find((_, at) => identities[at]?.identity === this.#options.program.identity);
    const chosen = own ?? planes.find((_, at) => identities[at] !== undefined);
    for (const [at, plane] of planes.entries()) {
      if (plane !== chosen) plane.close();
      if (identities[at] === undefined) await killPlane(plane.pid, stateDir);
    }
    return chosen;
  }

  #failure(error: unknown): unknown {
    if (!(error instanceof LaunchFailure) || error.code === "") return error;
    const { host, port, tls } = this.#options.settings.ingress;
    if (tls !== undefined && error.port === tls.port && tls.port !== port) {
      return listenError(error, { host: tls.host, port: tls.port, option: "--ingress-tls-listen-address" });
    }
    return listenError(error, { host, port, option: "--ingress-listen-address" });
  }

  #watch(plane: PlaneConnection): PlaneConnection {
    const { helloMs = HELLO_MS } = this.#options;
    // A plane that hangs closes nothing by itself: the connection ends with a question that it does not answer.
    const asking = setInterval(() => plane.call("hello", null, helloMs).catch(() => {}), helloMs).unref();
    plane.socket.once("close", () => {
      clearInterval(asking);
      if (this.#closed) return;
      this.#options.log.error("the data plane has ended, starting it again");
      this.#ready = this.#openAgain();
      // Callers that await it get the error.
      this.#ready.catch(() => {});
    });
    return plane;
  }

  async #openAgain(): Promise<PlaneConnection> {
    for (let wait = AGAIN_MS.first; !this.#closed; wait = Math.min(wait * 2, AGAIN_MS.most)) {
      try {
        const plane = await this.#open();
        await this.#tell(plane);
        return plane;
      } catch (error) {
        this.#options.log.error("the data plane does not start", { err: errorText(error) });
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
    throw new Error("the provider is stopping");
  }

  #table(): PlaneTable {
    return {
      routes: [...this.#routes.values()],
      backends: Object.fromEntries(this.#backends),
      ports: [...this.#ports],
      isPartial: this.#isPartial,
    };
  }

  /** Sends a plane everything that was sent so far. */
  async #tell(plane: PlaneConnection): Promise<void> {
    await plane.call("backends", Object.fromEntries(this.#backends));
    for (const routes of this.#routes.values()) await plane.call("route", { ...routes, backends: undefined });
    for (const [lease, ports] of this.#ports) await plane.call("carry", { lease, ports });
  }
}

function setMissing<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (!map.has(key)) map.set(key, value);
}
