import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import type { ManifestGroup } from "../../../sdl/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import {
  type ClusterPorts,
  clusterErrors,
  externalPort,
  isNodePortExpose,
  type PortAssignment,
  type PortRange,
} from "../contract/index.ts";

export const DEFAULT_PORT_RANGE: PortRange = { first: 30_000, last: 32_767 };

/** Whether the port is free on this host. */
export type PortProbe = (port: number, proto: "TCP" | "UDP") => Promise<boolean>;

/**
 * Gives ports of a range to leases. A lease keeps its ports over updates; a port that was given back is given out
 * again last, so that clients of the old lease do not meet the new one.
 */
export class PortAllocator implements ClusterPorts {
  readonly #range: PortRange;
  readonly #probe: PortProbe;
  readonly #held = new Map<string, readonly PortAssignment[]>();
  #next: number;

  constructor(range: PortRange = DEFAULT_PORT_RANGE, probe: PortProbe = isPortFree) {
    this.#range = range;
    this.#probe = probe;
    this.#next = range.first;
  }

  hold(id: LeaseKey, ports: readonly PortAssignment[]): void {
    this.#held.set(formatLeaseId(id), ports);
    for (const { hostPort } of ports) if (hostPort >= this.#next) this.#next = hostPort + 1;
  }

  release(id: LeaseKey): void {
    this.#held.delete(formatLeaseId(id));
  }

  async assign(id: LeaseKey, group: ManifestGroup): Promise<readonly PortAssignment[]> {
    const before = this.#held.get(formatLeaseId(id)) ?? [];
    const ports: PortAssignment[] = [];
    for (const wanted of wantedPorts(group)) {
      const kept = before.find((each) => portKey(each) === portKey(wanted));
      const taken = new Set([...this.#taken(), ...ports.map((each) => each.hostPort)]);
      ports.push(kept ?? { ...wanted, hostPort: await this.#free(taken, wanted.proto) });
    }
    // Kept together with the old ports until the caller has decided, so that no other lease gets them meanwhile.
    this.#held.set(formatLeaseId(id), [...before, ...ports.filter((each) => !before.includes(each))]);
    return ports;
  }

  #taken(): Set<number> {
    return new Set([...this.#held.values()].flat().map((each) => each.hostPort));
  }

  async #free(taken: ReadonlySet<number>, proto: "TCP" | "UDP"): Promise<number> {
    const { first, last } = this.#range;
    const size = last - first + 1;
    for (let tried = 0; tried < size; tried++) {
      const port = this.#next > last || this.#next < first ? first : this.#next;
      this.#next = port + 1;
      if (!taken.has(port) && (await this.#probe(port, proto))) return port;
    }
    throw clusterErrors.noPorts(`all of ${first} to ${last} are taken`);
  }
}

type WantedPort = Omit<PortAssignment, "hostPort">;

function wantedPorts(group: ManifestGroup): WantedPort[] {
  const wanted = new Map<string, WantedPort>();
  for (const service of group.services) {
    for (const expose of service.expose.filter(isNodePortExpose)) {
      const { port, proto } = expose;
      const entry = { service: service.name, port, externalPort: externalPort(expose), proto };
      wanted.set(portKey(entry), entry);
    }
  }
  return [...wanted.values()];
}

function portKey({ service, port, externalPort: outside, proto }: WantedPort): string {
  return `${service}/${port}/${outside}/${proto}`;
}

/** Tries to listen on the port for a moment. */
export function isPortFree(port: number, proto: "TCP" | "UDP"): Promise<boolean> {
  return new Promise((resolve) => {
    if (proto === "UDP") {
      const socket = createSocket("udp4");
      socket.once("error", () => resolve(false));
      socket.bind(port, () => socket.close(() => resolve(true)));
      return;
    }
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
