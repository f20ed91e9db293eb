/** An engine that hangs with the containers of one lease: other leases continue. */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { leaseNamespace } from "../../src/provider/cluster/contract/names.ts";
import { Volumes } from "../../src/provider/cluster/docker/host/volumes.ts";
import type { DockerDriver, DockerOptions } from "../../src/provider/cluster/docker/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { ownedFolder } from "../support/abandoned.ts";
import { collect, sampleLease, sampleSpec, scriptService, stream, untilOk } from "../support/conformance/index.ts";
import { pause } from "../support/index.ts";
import { TestEngine } from "./engine.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) console.warn(`tests of an engine that hangs are skipped: ${missing}`);

/** Passes calls on to the engine, except changes to a container of a lease that hangs. */
class HangingEngine {
  readonly socket: string;
  readonly #behind: string;
  readonly #server: Server;
  readonly #hanging = new Set<string>();
  readonly #containers = new Set<string>();
  readonly #waiting: Socket[] = [];
  readonly #late: (() => void)[] = [];
  #isSlow = false;
  /** Calls that got no answer. */
  held = 0;

  constructor(folder: string, behind: string) {
    this.socket = join(folder, "hanging.sock");
    this.#behind = behind;
    this.#server = createServer((call, answer) => this.#pass(call, answer));
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(this.socket), "listening");
  }

  close(): void {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Calls that hang fail, and no others. */
  release(): void {
    this.#hanging.clear();
    this.held = 0;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  /** Containers are made later, when `hurry` is called. */
  slow(): void {
    this.#isSlow = true;
  }

  hurry(): void {
    this.#isSlow = false;
    for (const pass of this.#late.splice(0)) pass();
  }

  hang(id: LeaseKey): void {
    this.#hanging.add(leaseNamespace(id).slice(0, 12));
  }

  #pass(call: IncomingMessage, answer: ServerResponse): void {
    const { method, url: path = "", headers } = call;
    if (this.#isHeld(call)) {
      this.held++;
      this.#waiting.push(call.socket);
      return;
    }
    if (this.#isSlow && path.includes("/containers/create")) {
      this.held++;
      this.#late.push(() => this.#pass(call, answer));
      return;
    }
    const made = request({ socketPath: this.#behind, method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      if (path.includes("/containers/create")) reply.on("data", (text) => this.#note(path, String(text)));
      reply.on("error", () => answer.destroy());
      reply.pipe(answer);
    });
    made.on("error", () => answer.destroy());
    answer.on("close", () => made.destroy());
    call.pipe(made);
  }

  #isHeld({ method, url = "" }: IncomingMessage): boolean {
    if (method !== "POST" && method !== "DELETE") return false;
    const isOf = (known: string) => [...this.#hanging].some((name) => known.includes(name));
    return [...this.#containers].some((known) => isOf(known) && url.includes(known.split(" ")[0] ?? ""));
  }

  /** Ids of containers, with their names. */
  #note(path: string, text: string): void {
    const [, id] = /"Id":\s*"([0-9a-f]{64})"/.exec(text) ?? [];
    if (id !== undefined) this.#containers.add(`${id} ${path}`);
  }
}

describe.skipIf(missing !== undefined)("volumes of a lease that are busy when they are to go", () => {
  it("hold up no other lease", async () => {
    const root = ownedFolder("svc-busy-");
    const key = (namespace: string) => ({
      namespace,
      replica: "web-0",
      volume: { name: "data", mount: "/data", size: BigInt(1 << 20), readOnly: false, persistent: false },
    });
    const data = await new Volumes(root, "loop").ensure(key("busy"));
    const held = await open(data);
    const volumes = new Volumes(root, "none");
    // Removed again and again, for seconds.
    const removed = volumes.removeLease("busy").then(
      () => "removed",
      () => "still busy",
    );
    const made = volumes.ensure(key("other")).then(() => "made");
    expect(await Promise.race([removed, made])).toBe("made");
    expect(await removed).toBe("still busy");
    await held.close();
    await volumes.removeAll();
    rmSync(root, { recursive: true });
  });
});

describe.skipIf(missing !== undefined)("while the engine hangs with the containers of one lease", () => {
  let engine: TestEngine;
  let hanging: HangingEngine;
  let driver: DockerDriver;
  const tenant = (owner: string) => ({ ...sampleLease(), owner });
  const lease = (id: LeaseKey, count = 1) =>
    sampleSpec([scriptService(engine.image, "echo here; exec sleep 1000", { count })], { id });

  beforeAll(async () => {
    engine = await TestEngine.start();
    hanging = new HangingEngine(engine.folder, engine.socket);
    await hanging.listen();
  });

  afterEach(async () => {
    hanging.hurry();
    hanging.release();
    await driver.purge();
    await driver.close();
  });

  afterAll(async () => {
    hanging.close();
    await engine.destroy("provider");
  });

  async function start(overrides: Partial<DockerOptions> = {}): Promise<void> {
    driver = await engine.driver("provider", { socket: hanging.socket, ...overrides });
  }

  /** The state of the lease, again and again until the work is done. */
  async function seen(id: LeaseKey, work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const look = setInterval(async () => found.add((await driver.status(id)).health), 20);
    await work().finally(() => clearInterval(look));
    return found;
  }

  it("others are deployed, shown, read, bid for and removed", async () => {
    await start();
    const [stuck, other] = [tenant("svc1stuck"), tenant("svc1other")];
    hanging.hang(stuck);
    await driver.deploy(lease(stuck, 10));
    // As many as one tenant may have under way.
    await expect.poll(() => hanging.held).toBeGreaterThanOrEqual(4);
    await driver.deploy(lease(other));
    await untilOk(driver, other);
    expect(await driver.obstacle()).toBeUndefined();
    expect((await driver.capacity()).nodes).toHaveLength(1);
    const lines = async () => (await collect(driver.logs(other, stream({ tail: 1 })))).map(({ message }) => message);
    await expect.poll(lines).toEqual(["here"]);
    await driver.teardown(other);
    expect(await driver.status(other)).toMatchObject({ health: "unknown" });
  });

  it("the state of others stays known when its calls take too long", async () => {
    await start({ timing: { patience: { call: 60_000, work: 2_000 } } });
    const [stuck, other] = [tenant("svc1late"), tenant("svc1calm")];
    await driver.deploy(lease(other));
    await untilOk(driver, other);
    hanging.hang(stuck);
    await driver.deploy(lease(stuck));
    const states = await seen(other, () => expect.poll(() => hanging.held).toBeGreaterThan(2));
    expect(states).toEqual(new Set(["ok"]));
    hanging.release();
    await untilOk(driver, stuck);
  });

  it("a driver that ends its workloads waits for the container that is being made, and removes it", async () => {
    await start();
    hanging.slow();
    await driver.deploy(lease(tenant("svc1begun")));
    await expect.poll(() => hanging.held).toBe(1);
    let isSuspended = false;
    const suspended = driver.suspend().then(() => {
      isSuspended = true;
    });
    await pause(500);
    expect(isSuspended).toBe(false);
    hanging.hurry();
    await suspended;
    expect(await engine.podman("ps", "--all", "--quiet")).toBe("");
    // With another driver everything is removed.
    await start();
  });
});
