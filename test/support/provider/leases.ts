import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterDriver, RouteTarget } from "../../../src/provider/cluster/index.ts";
import { HostLedger, HostRegistry, type HostRules } from "../../../src/provider/hostnames/index.ts";
import { clusterRouter, ingressRouter, type LeaseRouter, Routes } from "../../../src/provider/ingress/index.ts";
import {
  DEFAULT_MONITOR,
  LeaseService,
  type LeaseServiceOptions,
  type LeaseSettings,
} from "../../../src/provider/leases/index.ts";
import { type LogFields, type Logger, silentLogger } from "../../../src/util/index.ts";
import { encodeAddress, type LeaseKey } from "../../../src/wire/index.ts";
import { MemoryCluster, type MemoryClusterOptions } from "../memory-cluster/index.ts";
import { FakeChain } from "./chain.ts";
import { ManualClock, settle } from "./clock.ts";

export const PROVIDER = encodeAddress(new Uint8Array(20).fill(7));
export const TENANT = encodeAddress(new Uint8Array(20).fill(1));
export const STRANGER = encodeAddress(new Uint8Array(20).fill(2));

/** A loopback address of this process's own: whatever else listens on this machine has its node ports on others. */
export const OWN_ADDRESS = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;

export function leaseOf(dseq: bigint, owner = TENANT): LeaseKey {
  return { owner, dseq, gseq: 1, oseq: 1, provider: PROVIDER };
}

/** The part of the ingress that leases use, without sockets. */
export class FakeIngress {
  look(): void {}

  readonly routes = new Routes();
  readonly loopback = new Map<string, number>();

  async exposeService(target: RouteTarget, preferred = 0): Promise<number> {
    const port = preferred === 0 ? 41_000 + this.loopback.size : preferred;
    this.loopback.set(target.service, port);
    return port;
  }

  async removeLease(id: LeaseKey): Promise<void> {
    this.routes.removeLease(id);
  }
}

export interface HarnessOptions {
  readonly settings?: Partial<LeaseSettings>;
  readonly rules?: HostRules;
  readonly cluster?: MemoryClusterOptions;
  readonly loopbackPorts?: boolean;
  /** Options that the ingress does not keep. */
  readonly notKept?: readonly string[];
  readonly options?: Partial<LeaseServiceOptions>;
  /** Wraps the service's neighbours: chain, cluster, and the end of bids. */
  readonly through?: <Part extends object>(part: Part) => Part;
}

export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** A lease service on the memory cluster with its own chain, clock and folder; `restart` is a new process. */
export class LeaseHarness {
  readonly chain = new FakeChain();
  readonly clock = new ManualClock();
  readonly cluster: MemoryCluster;
  readonly closed: { readonly id: LeaseKey; readonly reason: string }[] = [];
  readonly gone: LeaseKey[] = [];
  readonly logs: LogEntry[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), "svc-leases-"));
  registry: HostRegistry;
  ingress = new FakeIngress();
  driver: ClusterDriver;
  service: LeaseService;
  readonly #options: HarnessOptions;

  constructor(options: HarnessOptions = {}) {
    this.#options = options;
    this.cluster = new MemoryCluster({
      nodePortAddress: OWN_ADDRESS,
      portProbe: async () => true,
      ...options.cluster,
    });
    this.driver = this.cluster.open();
    this.registry = this.#openRegistry();
    this.service = this.#open();
  }

  #openRegistry(): HostRegistry {
    const ledger = new HostLedger(join(this.folder, "hostnames.json"), this.log);
    return new HostRegistry(this.#options.rules, { ledger, clock: this.clock });
  }

  /** Ends the daemon without notice and starts another one on the same folder and cluster. */
  async restart(): Promise<LeaseService> {
    await this.service.stop();
    return this.crash();
  }

  /** Starts another daemon where the last one was killed. */
  async crash(): Promise<LeaseService> {
    this.driver = this.cluster.open();
    this.registry = this.#openRegistry();
    this.ingress = new FakeIngress();
    this.service = this.#open();
    await this.service.start();
    return this.service;
  }

  /** Moves the clock and gives containers time to start. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    await settle();
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.cluster.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #open(): LeaseService {
    const { settings, options, through = (part) => part } = this.#options;
    const bids = { closeBid: async (id: LeaseKey, reason: string) => void this.closed.push({ id, reason }) };
    return new LeaseService({
      folder: this.folder,
      settings: {
        provider: PROVIDER,
        publicHostname: "cluster.example.com",
        domain: "apps.example.com",
        staticHosts: true,
        manifestTimeoutMs: 300_000,
        monitor: DEFAULT_MONITOR,
        ...settings,
      },
      chain: through(this.chain),
      driver: through(this.driver),
      registry: this.registry,
      router: this.#router(),
      log: this.log,
      clock: this.clock,
      random: () => 0,
      settleMs: [],
      closeBid: through(bids).closeBid,
      onGone: (id) => void this.gone.push(id),
      ...options,
    });
  }

  #router(): LeaseRouter {
    const { routing } = this.driver;
    if (routing.ingress === "cluster") return clusterRouter(routing);
    const { loopbackPorts = false, notKept } = this.#options;
    const router = ingressRouter(this.ingress, { port: 80, loopbackPorts });
    return notKept === undefined ? router : { ...router, notKept: () => notKept };
  }

  get log(): Logger {
    const add =
      (level: string) =>
      (message: string, fields: LogFields = {}) =>
        void this.logs.push({ level, message, fields });
    return { ...silentLogger, debug: add("D"), info: add("I"), warn: add("W"), error: add("E") };
  }
}
