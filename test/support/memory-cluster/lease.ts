import {
  type ClusterEvent,
  type LeaseHealth,
  type LeaseSpec,
  type LogLine,
  leaseNamespace,
  type PortCarrier,
  type ServiceStatus,
} from "../../../src/provider/cluster/contract/index.ts";
import type { BackoffPolicy } from "../../../src/provider/cluster/shared/index.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { MemoryReplica } from "./replica.ts";

export interface LeaseSetting {
  readonly policy: BackoffPolicy;
  readonly nodePortAddress: string;
  /** Current carrier of node ports: a restarted daemon brings another. */
  readonly carrier: () => PortCarrier;
  /** The addresses of ready replicas may have changed. */
  readonly moved: (id: LeaseKey) => void;
  readonly hasImage: (image: string) => boolean;
  readonly event: (namespace: string, event: ClusterEvent) => void;
}

/** One lease of the memory cluster. */
export class MemoryLease {
  readonly namespace: string;
  /** Readers of lines as they come; each line is taken once its promise is fulfilled. */
  readonly listeners = new Set<(line: LogLine | undefined) => Promise<void>>();
  readonly #setting: LeaseSetting;
  readonly #errors = new Map<string, string>();
  #replicas: MemoryReplica[] = [];
  #work: Promise<void> = Promise.resolve();
  #written: { readonly line: LogLine; readonly run: number; readonly replica: () => MemoryReplica }[] = [];
  spec: LeaseSpec;
  /** Closed; `deploy` starts it again. */
  suspended = false;

  constructor(spec: LeaseSpec, setting: LeaseSetting) {
    this.spec = spec;
    this.#setting = setting;
    this.namespace = leaseNamespace(spec.id);
  }

  deploy(spec: LeaseSpec): void {
    this.spec = spec;
    this.suspended = false;
    this.#work = this.#work.then(() => this.#converge());
  }

  async close(): Promise<void> {
    await this.#work;
    this.suspended = true;
    await this.#setting.carrier().carry(this.namespace, []);
    for (const replica of this.#replicas) replica.remove();
    this.#replicas = [];
    for (const listener of this.listeners) void listener(undefined);
  }

  /** Output of the current replicas. */
  get lines(): LogLine[] {
    return this.#written.filter((entry) => this.#replicas.includes(entry.replica())).map((entry) => entry.line);
  }

  /** Output of the run before the last start. */
  previousLines(): LogLine[] {
    const before = this.#written.filter(({ replica, run }) => run === replica().runs - 1);
    return before.filter(({ replica }) => this.#replicas.includes(replica())).map(({ line }) => line);
  }

  /** Restarts the replicas of a service, one after the other. */
  restart(service: string): void {
    this.#work = this.#work.then(async () => {
      for (const replica of this.#replicas.filter((entry) => entry.service.name === service)) await replica.restart();
    });
  }

  replica(service: string, index: number): MemoryReplica | undefined {
    return this.#replicas.find((entry) => entry.service.name === service && entry.index === index);
  }

  backends(service: string, port: number): string[] {
    return this.#replicas.filter((entry) => entry.service.name === service).flatMap((entry) => entry.address(port));
  }

  status(): LeaseHealth {
    const services = this.spec.group.services.map((service): ServiceStatus => {
      const mine = this.#replicas.filter((entry) => entry.service.name === service.name);
      const config = JSON.stringify(service);
      const error = this.#errors.get(service.name) ?? mine.find((entry) => entry.error !== undefined)?.error;
      return {
        name: service.name,
        total: service.count,
        available: mine.filter((entry) => entry.ready).length,
        generation: this.spec.generation,
        updated: mine.filter((entry) => entry.ready && entry.config === config).length,
        replicas: mine.map(({ name, index, ready, restarts, state }) => ({ name, index, ready, restarts, state })),
        ...(error === undefined ? {} : { error }),
      };
    });
    const ok = services.every((service) => service.available >= service.total);
    return { health: ok ? "ok" : "bad", services };
  }

  /** New next to old; the old one goes when the new one is ready; without an image nothing changes. */
  async #converge(): Promise<void> {
    for (const service of this.spec.group.services) {
      if (!this.#pull(service.name, service.image)) continue;
      for (let index = 0; index < service.count; index++) {
        const old = this.replica(service.name, index);
        if (old?.config === JSON.stringify(service)) continue;
        const fresh = this.#newReplica(service, index);
        await fresh.start();
        this.#replicas = [...this.#replicas.filter((entry) => entry !== old), fresh];
        await this.#changed();
        old?.remove();
      }
      this.#removeReplicas((entry) => entry.service.name === service.name && entry.index >= service.count);
    }
    const names = new Set(this.spec.group.services.map((service) => service.name));
    this.#removeReplicas((entry) => !names.has(entry.service.name));
    await this.#changed();
  }

  #pull(service: string, image: string): boolean {
    this.#event(service, undefined, ["Normal", "Pulling", `pulling image ${image}`]);
    if (this.#setting.hasImage(image)) {
      this.#event(service, undefined, ["Normal", "Pulled", `image ${image} is here`]);
      this.#errors.delete(service);
      return true;
    }
    const text = `image ${image} does not exist`;
    this.#errors.set(service, text);
    this.#event(service, undefined, ["Warning", "Failed", text]);
    return false;
  }

  #newReplica(service: LeaseSpec["group"]["services"][number], index: number): MemoryReplica {
    const name = `${service.name}-${index}`;
    const callbacks = {
      event: (...event: EventText) => this.#event(service.name, name, event),
      log: (stream: LogLine["stream"], message: string) =>
        this.#line({ name, message, time: new Date().toISOString(), stream }, () => replica),
      moved: () => void this.#changed(),
    };
    const options = { config: JSON.stringify(service), policy: this.#setting.policy, callbacks };
    const replica: MemoryReplica = new MemoryReplica(service, index, options);
    return replica;
  }

  #removeReplicas(gone: (replica: MemoryReplica) => boolean): void {
    for (const replica of this.#replicas.filter(gone)) replica.remove();
    this.#replicas = this.#replicas.filter((replica) => !gone(replica));
  }

  /** Carries the node ports to the replicas that are ready. */
  async carry(): Promise<void> {
    if (this.suspended) return;
    const host = this.#setting.nodePortAddress;
    const ports = this.spec.ports.map(({ service, port, proto, hostPort }) => {
      return { proto, hostPort, host, backends: this.backends(service, port) };
    });
    await this.#setting.carrier().carry(this.namespace, ports);
  }

  async #changed(): Promise<void> {
    this.#setting.moved(this.spec.id);
    await this.carry();
  }

  #line(line: LogLine, replica: () => MemoryReplica): void {
    this.#written.push({ line, replica, run: replica().runs });
    for (const listener of this.listeners) void listener(line);
  }

  #event(service: string, replica: string | undefined, [type, reason, note]: EventText): void {
    this.#setting.event(this.namespace, {
      type,
      reason,
      note,
      object: {
        kind: replica === undefined ? "Deployment" : "Pod",
        namespace: this.namespace,
        name: replica ?? service,
      },
      service,
      time: new Date().toISOString(),
    });
  }
}

type EventText = [type: "Normal" | "Warning", reason: string, note: string];
