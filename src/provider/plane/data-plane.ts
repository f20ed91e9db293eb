import type { Socket as UdpSocket } from "node:dgram";
import type { Server } from "node:net";
import type { Logger } from "../../util/index.ts";
import { parseNetworks } from "../../util/servers/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import { type BackendRouting, type CarriedPort, LocalCarrier } from "../cluster/index.ts";
import { Ingress, ingressRouter, type LeaseRouter, type PlaneIngress, RoutesFile } from "../ingress/index.ts";
import type { PlaneBackends, PlaneRoutes, PlaneSettings, PlaneTable } from "./protocol.ts";

/** Listeners that a plane takes over from the one before it. */
export interface Inherited {
  readonly http: ReadonlyMap<string, Server>;
  readonly ports: ReadonlyMap<string, Server | UdpSocket>;
}

/** Names the addresses of a service's port. */
export function backendKey(id: LeaseKey, service: string, port: number): string {
  return `${formatLeaseId(id)}/${service}/${port}`;
}

/** The ingress and the node ports, with the addresses that they were last given. */
export class DataPlane {
  readonly #ingress: PlaneIngress;
  readonly #router: LeaseRouter;
  readonly #carrier: LocalCarrier;
  readonly #backends = new Map<string, readonly string[]>();
  readonly #routes = new Map<string, PlaneRoutes>();
  readonly #settings: PlaneSettings;

  constructor(settings: PlaneSettings, inherited: Inherited, log: Logger) {
    const { port, loopbackPorts } = settings.ingress;
    this.#settings = settings;
    this.#ingress = this.#makeIngress(inherited.http, log);
    this.#router = ingressRouter(this.#ingress, { port, loopbackPorts });
    this.#carrier = new LocalCarrier({}, inherited.ports);
  }

  #makeIngress(inherited: Inherited["http"], log: Logger): PlaneIngress {
    const { host, port, connectionsPerAddress, tls, gateway, routesFile, ...networks } = this.#settings.ingress;
    const backends: BackendRouting["backends"] = (id, service, wanted) =>
      this.#backends.get(backendKey(id, service, wanted)) ?? [];
    if (routesFile !== undefined) {
      // The proxy listens where a plane with an ingress of its own did.
      for (const listener of inherited.values()) listener.close();
      return new RoutesFile({ path: routesFile, backends, folders: tls?.folders ?? [], log });
    }
    const trustedProxies = parseNetworks(networks.trustedProxies);
    const forwardedFrom = parseNetworks(networks.forwardedFrom);
    const clients = { connectionsPerAddress, trustedProxies, forwardedFrom };
    const secure = { ...(tls === undefined ? {} : { tls }), ...(gateway === undefined ? {} : { gateway }) };
    return new Ingress({ backends, host, port, log, clients, inherited, ...secure });
  }

  get settings(): PlaneSettings {
    return this.#settings;
  }

  /** Resolves with the port of the ingress, once everything of the table is served. */
  async listen(table: PlaneTable): Promise<number> {
    this.#ingress.routes.isWhole = table.isPartial !== true;
    this.setBackends(table.backends);
    for (const routes of table.routes) await this.route(routes);
    for (const [lease, ports] of table.ports) await this.carry(lease, ports);
    return this.#ingress.listen();
  }

  async route(routes: PlaneRoutes): Promise<Readonly<Record<string, number>>> {
    const loopback = await this.#router.route(routes.id, routes.services, routes.loopback);
    this.#routes.set(formatLeaseId(routes.id), { ...routes, loopback });
    this.#ingress.changed();
    return loopback;
  }

  async unroute(id: LeaseKey): Promise<void> {
    const text = formatLeaseId(id);
    this.#routes.delete(text);
    for (const key of this.#backends.keys()) if (key.startsWith(`${text}/`)) this.#backends.delete(key);
    await this.#router.unroute(id);
  }

  setBackends(backends: PlaneBackends): void {
    for (const [key, addresses] of Object.entries(backends)) this.#backends.set(key, addresses);
    this.#ingress.changed();
  }

  carry(lease: string, ports: readonly CarriedPort[]): Promise<ReadonlyMap<string, string>> {
    return this.#carrier.carry(lease, ports);
  }

  /** Without an answer there is no token to serve. */
  async challenge(token: string, answer: string | null): Promise<void> {
    const { challenges } = this.#ingress;
    await (answer === null ? challenges.hide(token) : challenges.show(token, answer));
  }

  /** Drops what belongs to none of these leases, which are all that there are. */
  async retain(leases: ReadonlySet<string>, names: ReadonlySet<string>): Promise<void> {
    for (const [text, { id }] of this.#routes) if (!leases.has(text)) await this.unroute(id);
    for (const name of this.#carrier.carried().keys()) if (!names.has(name)) await this.carry(name, []);
    this.#ingress.routes.isWhole = true;
    this.#ingress.changed();
  }

  /** Everything for a plane that takes over. */
  table(): PlaneTable {
    return {
      routes: [...this.#routes.values()],
      backends: Object.fromEntries(this.#backends),
      ports: [...this.#carrier.carried()],
      isPartial: !this.#ingress.routes.isWhole,
    };
  }

  listeners(): Inherited {
    return { http: this.#ingress.listeners(), ports: this.#carrier.listeners() };
  }

  /** Takes no new connections; resolves when the last one has ended. */
  async drain(): Promise<void> {
    await Promise.all([this.#ingress.drain(), this.#carrier.drain()]);
  }

  async close(): Promise<void> {
    this.#carrier.close();
    await this.#ingress.close();
  }
}
