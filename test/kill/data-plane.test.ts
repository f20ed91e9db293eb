import { once } from "node:events";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MAIN } from "../support/build.ts";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { type Fixture, fetchPage, pause, ROOT, runSvc, waitFor, webFile } from "../support/index.ts";

const CLIENTS = 4;
const DOWN_MS = 3_000;
/** Forty requests a second from all clients. */
const BETWEEN_MS = 100;
const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

describeWithEngine("tenants' traffic while the provider is away", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    provider = await localnet.provider({ name: "provider", cpuScale: "0.1" });
  });
  afterAll(() => localnet?.close());

  it("goes on without a failed request over kill -9, a full heap, restarts and an upgrade", async () => {
    const { tenant } = localnet;
    const ordered = await tenant.order(withNodePort(webFile({ page: "still here", count: 2 })));
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    const url = await tenant.awaitReady(lease);
    const ports = Object.values((await tenant.status(lease)).forwarded_ports ?? {}).flat();
    const nodePort = Number(ports[0]?.externalPort ?? 0);
    const clients = new Clients(url);
    const held = connect(nodePort, "127.0.0.1");
    await once(held, "connect");
    const main = nextVersion(localnet.fixture);
    const leaking = ["--max-old-space-size=192", "--require", leak(localnet.fixture)];
    const faults: readonly Fault[] = [
      { name: "kill -9", end: () => provider.process.kill(), next: { nodeFlags: leaking } },
      { name: "a full heap", end: () => overflow(provider), next: {} },
      { name: "an upgrade", end: () => stopForNext(provider, main), next: { main } },
    ];
    for (const { name, end: fault, next } of faults) {
      const before = clients.right;
      await fault();
      await pause(DOWN_MS);
      expect(clients.wrong, `${name}: requests while it was away`).toEqual([]);
      await waitFor(() => clients.right > before, `an answer after ${name}`);
      expect(await fetchPage(url)).toBe("200 still here\n");
      await provider.start(next);
    }
    await provider.process.line(/data plane of another version or with other settings is replaced/);
    expect(await answered(held), "a connection of a node port that was open all the time").toMatch(/^HTTP\/1.1 /);
    await pause(DOWN_MS);
    await clients.stop();
    expect(clients.wrong).toEqual([]);
    await tenant.close(ordered.id);
    await waitFor(async () => (await provider.leftovers()).length === 0, "everything to be gone");
    await expect(fetchPage(url)).rejects.toThrow();
    await provider.process.stop();
  });
});

interface Fault {
  readonly name: string;
  /** Ends the daemon. */
  readonly end: () => Promise<unknown>;
  /** How the next one is started. */
  readonly next: Parameters<TestProvider["start"]>[0];
}

/** A program that fills the memory of the process that loads it at a signal. */
function leak(fixture: Fixture): string {
  const path = join(fixture.folder, "leak.cjs");
  writeFileSync(
    path,
    'process.on("SIGUSR2", () => { const kept = []; setInterval(() => kept.push(new Array(1e6).fill({}).map(Object)), 0); });',
  );
  return path;
}

async function overflow(provider: TestProvider): Promise<void> {
  expect(await provider.process.endsAfter("SIGUSR2")).toBe("SIGABRT");
  await provider.process.line(/heap out of memory/);
}

/** Another build, below node_modules, where it finds its packages. */
function nextVersion(fixture: Fixture): string {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "upgrade-"));
  fixture.defer(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(dirname(MAIN), folder, { recursive: true });
  const main = join(folder, basename(MAIN));
  appendFileSync(main, "\n// the next version\n");
  return main;
}

/** The next version is tried while the one before still runs. */
async function stopForNext(provider: TestProvider, main: string): Promise<void> {
  const beside = await runSvc(provider.process.args, { home: provider.home, main });
  expect(beside).toMatchObject({ code: 1, stderr: expect.stringMatching(/another process already runs the provider/) });
  await provider.process.stop();
}

function withNodePort(file: string): string {
  const port = "      - port: 80\n        as: 9000\n        to:\n          - global: true\n";
  return file.replace("profiles:", `${port}profiles:`);
}

async function answered(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  const [data] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return String(data);
}

/** Clients that ask again soon after each answer. */
class Clients {
  right = 0;
  readonly wrong: string[] = [];
  readonly #work: Promise<void>[];
  #going = true;

  constructor(url: string) {
    this.#work = Array.from({ length: CLIENTS }, () => this.#ask(url));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#work);
  }

  async #ask(url: string): Promise<void> {
    while (this.#going) {
      const page = await fetchPage(url).catch((error: Error) => `${error.message} ${String(error.cause)}`);
      if (page === "200 still here\n") this.right++;
      else this.wrong.push(page);
      await pause(BETWEEN_MS);
    }
  }
}
