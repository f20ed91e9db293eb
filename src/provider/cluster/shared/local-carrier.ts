import type { Socket as UdpSocket } from "node:dgram";
import type { Server } from "node:net";
import { type CarriedPort, type PortCarrier, portName } from "../contract/index.ts";
import { ConnectionGuard, DEFAULT_PORT_LIMITS, type PortLimits } from "./connection-guard.ts";
import { type PortProxy, tcpProxy, udpProxy } from "./port-proxy.ts";

interface Carried {
  port: CarriedPort;
  readonly proxy: PortProxy;
}

interface CarriedLease {
  readonly guard: ConnectionGuard;
  readonly ports: Map<string, Carried>;
}

/** Listeners of another process so far, by `portName`. */
export type Listeners = ReadonlyMap<string, Server | UdpSocket>;

/** Carries host ports in this process. */
export class LocalCarrier implements PortCarrier {
  readonly #limits: PortLimits;
  readonly #inherited: Map<string, Server | UdpSocket>;
  readonly #leases = new Map<string, CarriedLease>();
  #turn = 0;
  #closed = false;

  constructor(limits: Partial<PortLimits> = {}, inherited: Listeners = new Map()) {
    this.#limits = { ...DEFAULT_PORT_LIMITS, ...limits };
    this.#inherited = new Map(inherited);
  }

  async carry(name: string, wanted: readonly CarriedPort[]): Promise<ReadonlyMap<string, string>> {
    const lease = this.#leases.get(name) ?? { guard: new ConnectionGuard(this.#limits), ports: new Map() };
    this.#leases.set(name, lease);
    lease.guard.shared = wanted.some(({ shared }) => shared === true);
    const names = new Set(wanted.map(portName));
    for (const [key, { proxy }] of lease.ports) {
      if (names.has(key)) continue;
      proxy.close();
      lease.ports.delete(key);
    }
    const failures = new Map<string, string>();
    for (const port of wanted) await this.#carryOne(lease, port, failures);
    if (lease.ports.size === 0 && wanted.length === 0) this.#leases.delete(name);
    return failures;
  }

  close(): void {
    this.#closed = true;
    for (const { ports } of this.#leases.values()) for (const { proxy } of ports.values()) proxy.close();
    this.#leases.clear();
  }

  /** Everything carried, by lease. */
  carried(): Map<string, readonly CarriedPort[]> {
    return new Map([...this.#leases].map(([name, { ports }]) => [name, [...ports.values()].map(({ port }) => port)]));
  }

  listeners(): Map<string, Server | UdpSocket> {
    const all = [...this.#leases.values()].flatMap(({ ports }) => [...ports]);
    return new Map(all.map(([key, { proxy }]) => [key, proxy.listener]));
  }

  /** Takes no new connections; resolves when the last has ended. */
  async drain(): Promise<void> {
    this.#closed = true;
    const all = [...this.#leases.values()].flatMap(({ ports }) => [...ports.values()]);
    await Promise.all(all.map(({ proxy }) => proxy.drain()));
  }

  async #carryOne(lease: CarriedLease, port: CarriedPort, failures: Map<string, string>): Promise<void> {
    const key = portName(port);
    const known = lease.ports.get(key);
    if (known !== undefined) {
      known.port = port;
      return;
    }
    try {
      const listener = this.#inherited.get(key);
      this.#inherited.delete(key);
      const open = port.proto === "UDP" ? udpProxy : tcpProxy;
      const next = () => this.#next(lease, key);
      const proxy = await open({ host: port.host, port: port.hostPort }, next, { guard: lease.guard, listener });
      // The carrier may have been closed while the port was being opened.
      if (this.#closed) return proxy.close();
      lease.ports.set(key, { port, proxy });
    } catch (error) {
      failures.set(key, portFault(error));
    }
  }

  #next(lease: CarriedLease, key: string): string | undefined {
    const backends = lease.ports.get(key)?.port.backends ?? [];
    return backends[this.#turn++ % Math.max(backends.length, 1)];
  }
}

const PORT_FAULTS: ReadonlyMap<unknown, string> = new Map([
  ["EADDRINUSE", "another program of the host has it"],
  ["EADDRNOTAVAIL", "the host does not have the address that the provider gives to ports"],
  ["EACCES", "the provider may not open it"],
  ["EMFILE", "the provider has no connections left"],
]);

/** Why a port cannot be opened, for its tenant. */
function portFault(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return PORT_FAULTS.get(code) ?? "the host refuses it";
}
