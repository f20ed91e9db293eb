import { execFile } from "node:child_process";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorText } from "../../../src/util/index.ts";
import { Bid_State } from "../../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { commandLine, processesOn } from "../../support/abandoned.ts";
import type { Ordered, TestLocalnet, TestProvider } from "../../support/containers.ts";
import { fillDisk, freeDisk } from "../../support/disk.ts";
import { fetchPage, pause, type Rng, waitFor, webFile } from "../../support/index.ts";
import { damageFile } from "../../support/provider/damage.ts";
import { type Asked, Clients } from "./clients.ts";

const run = promisify(execFile);
const AWAY_MS = 1_500;
const SLOW_MS = 6_000;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };
const SAID = 200;
const TRACE = '{{.ID}} {{.Status}} {{index .Labels "svc.lease.dseq"}}/{{index .Labels "svc.service"}}';
const SHARE_OF_FILES = 0.4;
/** Data of the containers, which the provider cannot make again. */
const TENANTS_DATA = ["volumes", "images"];

/** A deployment that runs. */
export interface Running extends Asked {
  readonly ordered: Ordered;
  readonly lease: LeaseKey;
}

type Fault = () => Promise<void>;

/** Leases with clients at a provider in its own processes, and faults around them. */
export class Chaos {
  readonly clients = new Clients();
  readonly running: Running[] = [];
  /** Every lease that ever was. */
  readonly leases: LeaseKey[] = [];
  readonly done = new Map<string, number>();
  readonly #localnet: TestLocalnet;
  readonly #provider: TestProvider;
  readonly #rng: Rng;

  constructor(localnet: TestLocalnet, provider: TestProvider, rng: Rng) {
    this.#localnet = localnet;
    this.#provider = provider;
    this.#rng = rng;
  }

  async begin(leases: number): Promise<void> {
    for (let i = 0; i < leases; i++) await this.#deploy();
  }

  /** Plays one of the faults, and waits until everything is served again. */
  async fault(): Promise<string> {
    const [name, play] = this.#pick(Object.entries(this.#faults));
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    try {
      await play();
      for (const each of this.running) await this.#served(each);
    } catch (error) {
      throw new Error(`${name}: ${errorText(error)}\n${await this.#traces()}`, { cause: error });
    }
    return name;
  }

  /** Traces that help to explain an unhandled fault. */
  async #traces(): Promise<string> {
    const { engine, tenant } = this.#localnet;
    const containers = await engine.podman("ps", "--all", "--format", TRACE).catch(errorText);
    // The newest one may not run yet.
    const asked = new Set([...this.running.map(({ lease }) => lease), ...this.leases.slice(-1)]);
    const statuses = await Promise.all(
      [...asked].map((lease) =>
        tenant.status(lease).then((each) => `${lease.dseq} ${JSON.stringify(each)}`, errorText),
      ),
    );
    const said = this.#provider.process.lines.slice(-SAID).map(({ text }) => text);
    const processes = processesOn(engine.folder).map((pid) => `${pid} ${commandLine(pid)}`.replaceAll("\0", " "));
    const columns = ["-o", "pid,stat,etime,wchan:32,args", "--ppid", `${this.#provider.process.pid}`];
    const children = await run("ps", columns, { timeout: 10_000 }).then(({ stdout }) => stdout, errorText);
    return [containers, ...statuses, ...said, ...processes, children, await engine.stacks()].join("\n");
  }

  readonly #faults: Readonly<Record<string, Fault>> = {
    "the daemon is killed": () => this.#withoutDaemon(() => pause(AWAY_MS)),
    "the daemon is stopped": async () => {
      await this.#provider.process.stop();
      await pause(AWAY_MS);
      await this.#provider.start();
    },
    "the engine is killed": () => this.#withoutEngine(() => pause(AWAY_MS)),
    "the engine is slow": () => this.#localnet.engine.whilePaused(() => pause(SLOW_MS)),
    "the node is killed": () => this.#withoutNode(() => pause(AWAY_MS)),
    "daemon, engine and node are killed": () =>
      this.#withoutDaemon(() => this.#withoutEngine(() => this.#withoutNode(() => pause(AWAY_MS)))),
    "the data plane is killed": () =>
      this.clients.excuse(this.running, async () => {
        for (const pid of this.#planes()) process.kill(pid, "SIGKILL");
        for (const each of this.running) await this.#served(each);
      }),
    "a program is killed": () => this.#hurt(async (id) => void process.kill(await this.#program(id), "SIGKILL")),
    "a monitor is killed": () => this.#hurt(async (id) => this.#killMonitor(id)),
    "a monitor and its program are killed": () =>
      this.#hurt(async (id) => {
        const program = await this.#program(id);
        this.#killMonitor(id);
        process.kill(program, "SIGKILL");
      }),
    "a container is removed": () =>
      this.#hurt(async (id) => void (await this.#localnet.engine.podman("rm", "--force", "--time", "0", id))),
    "the disk is full": () => this.#onFullDisk(),
    "files of the provider are lost or torn": () =>
      this.#withoutDaemon(async () => this.#damage((name) => !/^engine/.test(name))),
    "files of its cluster are lost or torn": () =>
      this.#withoutDaemon(async () => this.#damage((name) => /^engine/.test(name))),
    "a lease ends and another begins": async () => {
      const ended = this.#pick(this.running);
      this.running.splice(this.running.indexOf(ended), 1);
      await this.clients.remove(ended);
      await this.#insist(ended.ordered, ["closed"], () => this.#localnet.tenant.close(ended.ordered.id));
      await this.#deploy();
    },
  };

  #pick<T>(all: readonly T[]): T {
    const found = all[this.#rng.below(all.length)];
    if (found === undefined) throw new Error("nothing to choose from");
    return found;
  }

  async #deploy(): Promise<void> {
    const { tenant } = this.#localnet;
    const page = `page ${this.leases.length}`;
    const file = webFile({ page }).replace("units: 0.1", "units: 0.01");
    const ordered = await this.#order(file);
    await tenant.awaitBids(ordered.id);
    const lease = { ...ordered.order, provider: this.#provider.address };
    await this.#insist(ordered, ["active"], () => tenant.lease(ordered.order, lease.provider));
    this.leases.push(lease);
    await tenant.sendManifest(ordered, this.#provider.address);
    const url = await waitFor(() => tenant.awaitReady(lease), `${page} to be ready`, PATIENCE);
    const running = { ordered, lease, url, page: `200 ${page}\n` };
    this.running.push(running);
    this.clients.add(running);
  }

  /** Two orders in one block would have the same number. */
  #order(file: string): Promise<Ordered> {
    return waitFor(() => this.#localnet.tenant.order(file), "an order to be placed", PATIENCE);
  }

  /** A node on a busy machine may refuse, or answer too late: as people do, the tenant then looks, and tries again. */
  async #insist({ id }: Ordered, states: readonly string[], work: () => Promise<unknown>): Promise<void> {
    const isDone = async () => {
      const bids = await this.#localnet.tenant.bids(id);
      return bids.length > 0 && bids.every(({ bid }) => states.includes(Bid_State[bid?.state ?? 0] ?? ""));
    };
    const attempt = () =>
      work().then(
        () => true,
        async (error: unknown) => {
          if (await isDone()) return true;
          throw error;
        },
      );
    await waitFor(attempt, `the bid to be ${states}`, PATIENCE);
  }

  async #served({ url, page }: Running): Promise<void> {
    const isServed = async () => {
      const answer = await fetchPage(url);
      if (answer !== page) throw new Error(answer);
      return true;
    };
    await waitFor(isServed, `the ${page.trim()} at ${url}`, PATIENCE);
  }

  async #withoutDaemon(work: Fault): Promise<void> {
    await this.#provider.process.kill();
    await work();
    await this.#provider.start();
  }

  async #withoutEngine(work: Fault): Promise<void> {
    await this.#localnet.engine.stopService();
    try {
      await work();
    } finally {
      await this.#localnet.engine.startService();
    }
  }

  async #withoutNode(work: Fault): Promise<void> {
    await this.#localnet.node.process.kill();
    await work();
    await this.#localnet.node.start();
  }

  /** Damages the container of one deployment, whose requests may fail until it is served again. */
  async #hurt(work: (container: string) => Promise<void>): Promise<void> {
    const hurt = this.#pick(this.running);
    const id = (await this.#provider.containers()).get(`${hurt.lease.dseq}/web/0`);
    if (id === undefined) throw new Error(`deployment ${hurt.lease.dseq} has no container`);
    await this.clients.excuse([hurt], async () => {
      await work(id);
      await this.#stable(hurt);
    });
  }

  /** The provider may notice later than the client: requests succeed again, and continue to for a while. */
  async #stable(hurt: Running): Promise<void> {
    for (let good = 0; good < 5; good++) {
      await this.#served(hurt);
      await pause(AWAY_MS);
    }
  }

  async #program(container: string): Promise<number> {
    const pid = Number(await this.#localnet.engine.podman("inspect", "--format", "{{.State.Pid}}", container));
    if (!(pid > 1)) throw new Error(`container ${container} has no process`);
    return pid;
  }

  /** The engine's process that holds the container's output and waits for its end. */
  #killMonitor(container: string): void {
    for (const pid of processesOn(container)) process.kill(pid, "SIGKILL");
  }

  #planes(): number[] {
    const sockets = readdirSync(join(this.#folder, "plane")).filter((name) => name.endsWith(".sock"));
    const pids = sockets.map((name) => Number.parseInt(name, 10));
    return pids.filter((pid) => existsSync(`/proc/${pid}`));
  }

  get #folder(): string {
    return join(this.#provider.home, "provider");
  }

  /** No bid on an order that comes now; one that comes with the space. */
  async #onFullDisk(): Promise<void> {
    const { tenant } = this.#localnet;
    fillDisk(this.#folder);
    const ordered = await (async () => {
      try {
        const order = await this.#order(webFile());
        await this.#provider.process.line(/this provider does not bid.*MiB free/);
        await pause(AWAY_MS);
        if ((await tenant.bids(order.id)).length > 0) throw new Error("a bid while the disk is full");
        return order;
      } finally {
        freeDisk(this.#folder);
      }
    })();
    await tenant.awaitBids(ordered.id);
    await this.#insist(ordered, ["closed"], () => tenant.close(ordered.id));
  }

  #damage(isMeant: (name: string) => boolean): void {
    const names = readdirSync(this.#folder, { recursive: true, encoding: "utf8" }).filter(isMeant);
    const isTenants = (name: string) => name.startsWith("engine") && TENANTS_DATA.includes(name.split("/")[1] ?? "");
    const paths = names.filter((name) => !isTenants(name)).map((name) => join(this.#folder, name));
    const files = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true);
    const wanted = files.filter(() => this.#rng.next() < SHARE_OF_FILES);
    for (const path of wanted) damageFile(path, (count) => this.#rng.below(count));
  }
}
