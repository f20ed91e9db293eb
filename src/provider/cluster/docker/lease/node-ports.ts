import { type PortAssignment, portName } from "../../contract/index.ts";
import type { ReachedPort } from "../ports/carrier.ts";
import type { LeaseState } from "./state.ts";
import { readyPort } from "./status.ts";

/** The lease's ports on the host: each carries to the ready replicas in turn. */
export class NodePorts {
  readonly #state: LeaseState;
  readonly #open = new Set<string>();
  #carried = "";
  #closed = false;

  constructor(state: LeaseState) {
    this.#state = state;
  }

  /**
   * Carries what the spec has to the replicas that are ready. A port that is taken is reported and tried again later.
   */
  async reconcile(): Promise<void> {
    const state = this.#state;
    const { nodePortAddress: host } = state.context.settings;
    const wanted = state.spec.ports.map((each) => this.#carriedPort(each, host));
    const ready = state.units.filter((unit) => unit.running && state.historyOf(unit).ready);
    const text = JSON.stringify(wanted);
    if (!this.#closed && text !== this.#carried) await this.#carry(wanted, text);
    state.reached = new Set(ready.map(({ id }) => id));
  }

  async #carry(wanted: readonly ReachedPort[], text: string): Promise<void> {
    const state = this.#state;
    const { carrier } = state.context.settings;
    const failures = await carrier.carry(state.namespace, wanted);
    // The lease may have been closed while a port was being opened.
    if (this.#closed) return;
    this.#carried = failures.size === 0 ? text : "";
    for (const assignment of state.spec.ports) this.#tell(assignment, failures.get(portName(assignment)));
    const names = new Set(wanted.map(portName));
    for (const name of this.#open) if (!names.has(name)) this.#open.delete(name);
  }

  /** The lease has no ports any more. */
  async remove(): Promise<void> {
    this.#closed = true;
    await this.#state.context.settings.carrier.carry(this.#state.namespace, []);
  }

  /** Stops changing the carried ports. */
  stop(): void {
    this.#closed = true;
  }

  #tell(assignment: PortAssignment, failure: string | undefined): void {
    const state = this.#state;
    const { service, hostPort, proto, externalPort } = assignment;
    const name = portName(assignment);
    if (failure !== undefined) {
      const note = `host port ${hostPort}/${proto} cannot be opened: ${failure}`;
      if (state.errors.get(portError(service)) !== note) {
        state.event({ type: "Warning", reason: "Failed", note, service });
      }
      state.errors.set(portError(service), note);
      return;
    }
    if (this.#open.has(name)) return;
    this.#open.add(name);
    state.errors.delete(portError(service));
    const note = `port ${externalPort}/${proto} of ${service} is port ${hostPort} of the host`;
    state.event({ type: "Normal", reason: "PortAssigned", note, service });
  }

  #carriedPort(assignment: PortAssignment, host: string): ReachedPort {
    const state = this.#state;
    const { port, proto, hostPort, service } = assignment;
    const key = `${port}/${proto.toLowerCase()}`;
    const units = state.units.filter((unit) => unit.service === service && unit.running);
    const ready = units.filter((unit) => state.historyOf(unit).ready);
    const backends = ready.flatMap((unit) => readyPort(unit, key));
    const network = state.network?.name ?? "";
    const addresses = ready.flatMap(({ addresses: known }) => known.get(network) ?? []);
    return { proto, hostPort, host, backends, direct: { addresses, port } };
  }
}

function portError(service: string): string {
  return `${service}/ports`;
}
