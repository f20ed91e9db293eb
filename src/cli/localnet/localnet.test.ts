import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockLocalnet, writeState } from "./home.ts";
import { Localnet } from "./localnet.ts";
import { localnetPorts } from "./ports.ts";
import { recordProcess } from "./processes/left.ts";
import { foldersOf, recordCluster, recordedCluster } from "./remains.ts";

/** No other test uses its ports. */
const PORT_OFFSET = 3300;
const LISTENER = `require("node:net").createServer().listen(+process.argv[1], "127.0.0.1", () => console.log("listening"));`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-localnet-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function localnet(home = join(root, "net"), validators?: number) {
  const said: string[] = [];
  const engineSocket = join(root, "no-engine.sock");
  const signal = new AbortController().signal;
  const options = {
    home,
    portOffset: PORT_OFFSET,
    blockIntervalMs: 1000,
    keep: false,
    validators,
    providers: 1,
    cometbft: { given: undefined, home: root },
    engineSocket,
    json: false,
    signal,
  };
  const net = new Localnet(options, { out: (text) => said.push(text), err: (text) => said.push(text) });
  return { net, said, ...foldersOf(home) };
}

test("a start ends what an earlier localnet left before it looks at its ports", async () => {
  const { net, said, runDir } = localnet();
  mkdirSync(runDir, { mode: 0o700 });
  const left = spawn(process.execPath, ["-e", LISTENER, `${localnetPorts(PORT_OFFSET).ingressHttp}`]);
  const ended = once(left, "exit");
  await once(left.stdout, "data");
  recordProcess(runDir, { name: "provider", pid: left.pid ?? 0 });
  // It comes as far as the engine.
  await expect(net.run()).rejects.toThrow("no container engine answers");
  expect(await ended).toEqual([null, "SIGTERM"]);
  expect(said.join("")).toContain(`removing what an earlier localnet left: provider (process ${left.pid})`);
});

test("a failed start forgets nothing of what an earlier localnet left", async () => {
  const { net, said, runDir } = localnet();
  mkdirSync(runDir, { mode: 0o700 });
  const record = { engine: "/run/other.sock", kind: "docker" };
  recordCluster(runDir, record);
  const server = createServer();
  await once(server.listen(localnetPorts(PORT_OFFSET).rpc, "127.0.0.1"), "listening");
  await expect(net.run()).rejects.toThrow(`port ${localnetPorts(PORT_OFFSET).rpc}, needed for JSON-RPC, is used`);
  server.close();
  expect(recordedCluster(runDir)).toEqual(record);
  expect(said.join("")).toContain("Hint: containers stay; the next start removes them, or: svc localnet --clean");
});

test("containers on an engine that is away keep their record, and the error says how to go on", async () => {
  const { net, runDir } = localnet();
  mkdirSync(runDir, { mode: 0o700 });
  recordCluster(runDir, { engine: "/run/other.sock", kind: "docker" });
  await expect(net.clean()).rejects.toMatchObject({
    message: "the container engine at /run/other.sock, which has containers of this localnet, does not answer",
    hint: `start it and try again; or give the containers up: rm ${runDir}/cluster.json`,
  });
  expect(recordedCluster(runDir)).toBeDefined();
});

test("a second start beside a running one says so, and nothing of what the first one has", async () => {
  const { net, said, runDir, home } = localnet();
  mkdirSync(runDir, { mode: 0o700 });
  recordCluster(runDir, { engine: "/run/other.sock", kind: "docker" });
  const lock = lockLocalnet(home, runDir);
  await expect(net.run()).rejects.toThrow(`a localnet is already running in ${home}`);
  expect(said).toEqual([]);
  lock.release();
});

test("a kept chain keeps its validators: another number is refused before anything is started", async () => {
  const { net, home, runDir } = localnet(join(root, "net"), 4);
  mkdirSync(home);
  writeState(home, { chainId: "c", rpc: "r", netUrl: "n", kept: true, validators: 2 });
  await expect(net.run()).rejects.toThrow(`the chain kept in ${home} has 2 validators`);
  expect(existsSync(runDir)).toBe(false);
});

test("where nothing is left, that is said, and no folder made", async () => {
  const { net, said, runDir, home } = localnet();
  expect(await net.clean()).toBe(0);
  expect(said).toEqual([`nothing is left of a localnet in ${home}\n`]);
  expect([home, runDir].filter(existsSync)).toEqual([]);
});

test.each(["run", "clean"] as const)(
  "%s refuses a folder of another kind before it ends or removes anything",
  async (way) => {
    const { net, home, runDir } = localnet();
    mkdirSync(join(home, "provider"), { recursive: true });
    writeFileSync(join(home, "provider", "leases"), "");
    await expect(net[way]()).rejects.toThrow(`${home} exists and was not made by svc localnet`);
    expect(existsSync(join(home, "provider", "leases"))).toBe(true);
    expect(existsSync(runDir)).toBe(false);
  },
);
