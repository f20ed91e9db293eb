import { errorText } from "../../../../util/index.ts";
import type { PortAssignment } from "../../contract/index.ts";
import { type PortProxy, tcpProxy, udpProxy } from "../../shared/index.ts";
import type { LeaseState } from "./state.ts";
import { readyPort } from "./status.ts";

interface OpenPort {
  readonly assignment: PortAssignment;
  readonly proxy: PortProxy;
}

/** The lease's ports on the host: each carries to the ready replicas in turn. */
export class NodePorts {
  readonly #state: LeaseState;
  readonly #open = new Map<string, OpenPort>();
  #turn = 0;
  #closed = false;

  constructor(state: LeaseState) {
    this.#state = state;
  }

  /** Opens and closes what differs from the spec. A port that is taken is reported and tried again. */
  async reconcile(): Promise<void> {
    const wanted = new Map(this.#state.spec.ports.map((assignment) => [keyOf(assignment), assignment]));
    for (const [key, open] of this.#open) {
      if (wanted.has(key)) continue;
      open.proxy.close();
      this.#open.delete(key);
    }
    for (const [key, assignment] of wanted) if (!this.#open.has(key)) await this.#openPort(key, assignment);
  }

  close(): void {
    this.#closed = true;
    for (const open of this.#open.values()) open.proxy.close();
    this.#open.clear();
  }

  async #openPort(key: string, assignment: PortAssignment): Promise<void> {
    const state = this.#state;
    const { nodePortAddress: host } = state.context.settings;
    const { service, hostPort, proto, externalPort } = assignment;
    const listen = proto === "UDP" ? udpProxy : tcpProxy;
    try {
      const proxy = await listen({ host, port: hostPort }, () => this.#next(assignment));
      // The lease may have been closed while the port was being opened.
      if (this.#closed) return proxy.close();
      this.#open.set(key, { assignment, proxy });
      state.errors.delete(portError(service));
      const note = `port ${externalPort}/${proto} of ${service} is port ${hostPort} of the host`;
      state.event({ type: "Normal", reason: "PortAssigned", note, service });
    } catch (error) {
      const text = `host port ${hostPort}/${proto} cannot be opened: ${errorText(error)}`;
      if (state.errors.get(portError(service)) !== text) {
        state.event({ type: "Warning", reason: "Failed", note: text, service });
      }
      state.errors.set(portError(service), text);
    }
  }

  #next(assignment: PortAssignment): string | undefined {
    const state = this.#state;
    const key = `${assignment.port}/${assignment.proto.toLowerCase()}`;
    const units = state.units.filter((unit) => unit.service === assignment.service && unit.running);
    const addresses = units.filter((unit) => state.historyOf(unit).ready).flatMap((unit) => readyPort(unit, key));
    return addresses[this.#turn++ % Math.max(addresses.length, 1)];
  }
}

function portError(service: string): string {
  return `${service}/ports`;
}

function keyOf(assignment: PortAssignment): string {
  return `${assignment.service}/${assignment.port}/${assignment.proto}/${assignment.hostPort}`;
}
