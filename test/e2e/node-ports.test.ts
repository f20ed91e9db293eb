/** Node ports of the kernel between namespaces: clients, a host with the rules, and replicas. No container engine is needed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../../src/provider/cluster/docker/host/command.ts";
import { KernelPorts } from "../../src/provider/cluster/docker/ports/kernel-ports.ts";
import type { KernelPort } from "../../src/provider/cluster/docker/ports/rules.ts";
import { silentLogger } from "../../src/util/index.ts";
import { execFileSync } from "../support/bounded.ts";
import { Fixture } from "../support/index.ts";

const isMissing = process.getuid?.() !== 0 || !hasTools() ? "needs root, ip, nft, iptables and conntrack" : undefined;
if (isMissing !== undefined) console.warn(`node ports of the kernel are not tested: ${isMissing}`);

const NAME = `svcp${process.pid}`;
const HOST = "10.77.0.1";
const CLIENTS = ["10.77.0.2", "10.77.0.3", "10.77.0.4"];
const REPLICAS = ["10.78.0.2", "10.78.0.3"];
const LIMITS = { connectionsPerAddress: 4, connectionsPerLease: 6, idleMs: 3_600_000 };

/** A program in each namespace that serves and asks what it is told. */
const AGENT = `
const net = require("node:net"), dgram = require("node:dgram"), held = [], asking = new Map();
let questions = 0;
const jobs = {
  serve: ({ proto, host, port, text }) => new Promise((done) => {
    if (proto === "udp") {
      const socket = dgram.createSocket("udp4");
      socket.on("message", (data, from) => socket.send(text + " " + data, from.port, from.address)).bind(port, host, done);
    } else net.createServer((one) => one.on("error", () => {}).write(text + " " + one.remoteAddress)).listen(port, host, done);
  }),
  hold: ({ host, port, from }) => new Promise((done) => {
    const socket = net.connect({ host, port, localAddress: from });
    held.push(socket);
    socket.on("error", () => {}).once("data", (data) => done(String(data))).once("close", () => done(""));
  }),
  ask: ({ host, port, from }) => new Promise((done) => {
    const socket = asking.get(from) ?? dgram.createSocket("udp4");
    asking.set(from, socket);
    // An answer to what was asked before may come late.
    const question = String(++questions);
    const send = () => socket.send(question, port, host);
    const again = setInterval(send, 300);
    const hear = (data) => {
      const [text, answered] = String(data).split(" ");
      if (answered !== question) return;
      clearInterval(again);
      socket.off("message", hear);
      done(text);
    };
    socket.on("message", hear);
    send();
  }),
  write: ({ index }) => new Promise((done) => {
    held[index].once("close", () => done("closed"));
    held[index].write("more");
  }),
  drop: () => { for (const socket of held.splice(0)) socket.destroy(); },
};
process.on("message", async ({ id, job, input }) => process.send({ id, answer: await jobs[job](input) }));
`;

class Agent {
  readonly #child: ChildProcess;
  #last = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.setMaxListeners(0);
  }

  do(job: string, input: object = {}): Promise<string> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      const hear = (message: { id: number; answer: string }) => {
        if (message.id !== id) return;
        this.#child.off("message", hear);
        resolve(message.answer);
      };
      this.#child.on("message", hear);
      this.#child.send({ id, job, input });
    });
  }

  async end(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }
}

describe.skipIf(isMissing !== undefined)("node ports of the kernel", { timeout: 30_000 }, () => {
  const fixture = new Fixture();
  const agents: Agent[] = [];
  const [client, host, replica] = ["c", "h", "r"].map((side) => `${NAME}${side}`) as [string, string, string];

  const inHost: typeof run = (tool, args, input) => run("ip", ["netns", "exec", host, tool, ...args], input);
  const open = (tool = inHost) =>
    new KernelPorts({ prefix: "svc-t", bridgePrefix: "svct", limits: LIMITS, log: silentLogger, tool });
  const port = (proto: "tcp" | "udp", hostPort: number, replicas = REPLICAS): KernelPort => {
    return { proto, hostPort, host: undefined, replicas, port: proto === "tcp" ? 80 : 81 };
  };
  const hold = (hostPort: number, from = CLIENTS[0]) =>
    agentOf(client).do("hold", { host: HOST, port: hostPort, from });
  const names = new Map<string, Agent>();
  const agentOf = (namespace: string): Agent => {
    const agent = names.get(namespace);
    if (agent === undefined) throw new Error(`nothing runs in ${namespace}`);
    return agent;
  };

  beforeAll(async () => {
    network(client, host, replica);
    const script = join(fixture.folder, "agent.cjs");
    writeFileSync(script, AGENT);
    for (const namespace of [client, host, replica]) {
      const args = ["netns", "exec", namespace, process.execPath, script];
      const agent = new Agent(spawn("ip", args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }));
      agents.push(agent);
      names.set(namespace, agent);
    }
    for (const address of REPLICAS) {
      await agentOf(replica).do("serve", { proto: "tcp", host: address, port: 80, text: address });
      await agentOf(replica).do("serve", { proto: "udp", host: address, port: 81, text: address });
    }
    // In place of the data plane.
    for (const hostPort of [30_000, 30_001, 30_002]) {
      await agentOf(host).do("serve", { proto: "tcp", host: "0.0.0.0", port: hostPort, text: "process" });
      await agentOf(host).do("serve", { proto: "udp", host: "0.0.0.0", port: hostPort, text: "process" });
    }
  });

  afterAll(async () => {
    for (const agent of agents) await agent.end();
    for (const namespace of [client, host, replica]) ip("netns", "del", namespace);
    await fixture.close();
  });

  it("lead clients to the replicas in turn, by their own address, and leave what is beyond a limit to the process", async () => {
    const ports = open();
    expect(await ports.unavailable()).toBeUndefined();
    await ports.set("one", [port("tcp", 30_000)]);
    const first = await Promise.all([1, 2, 3, 4].map(() => hold(30_000)));
    expect(first.map((text) => text.split(" ")[1])).toEqual(Array(4).fill(CLIENTS[0]));
    expect(new Set(first.map((text) => text.split(" ")[0]))).toEqual(new Set(REPLICAS));
    // One beyond the limit of an address; another address has its own.
    expect(await hold(30_000)).toBe(`process ${CLIENTS[0]}`);
    expect(await hold(30_000, CLIENTS[1])).toMatch(/^10\.78/);
    expect(await hold(30_000, CLIENTS[1])).toMatch(/^10\.78/);
    // Six are there: one beyond the limit of the lease.
    expect(await hold(30_000, CLIENTS[2])).toBe(`process ${CLIENTS[2]}`);
  });

  it("are found again by the next daemon, with what was counted", async () => {
    const next = open();
    expect(await next.unavailable()).toBeUndefined();
    await next.set("one", [port("tcp", 30_000, REPLICAS.slice(1))]);
    expect(await hold(30_000)).toBe(`process ${CLIENTS[0]}`);
    await agentOf(client).do("drop");
    await expect.poll(() => hold(30_000), { timeout: 15_000 }).toBe(`${REPLICAS[1]} ${CLIENTS[0]}`);
  });

  it("keep connections when a replica is no longer asked, and end them with the lease", async () => {
    await agentOf(client).do("drop");
    const ports = open();
    await ports.set("two", [port("tcp", 30_001)]);
    expect(await hold(30_001)).toMatch(/^10\.78/);
    await ports.set("two", [port("tcp", 30_001, [])]);
    expect(await hold(30_001, CLIENTS[1])).toBe(`process ${CLIENTS[1]}`);
    await ports.set("two", []);
    expect(await agentOf(client).do("write", { index: 0 })).toBe("closed");
    expect(await inHost("nft", ["list", "ruleset"])).not.toContain("two");
    expect(await hold(30_000)).toMatch(/^10\.78/);
  });

  it("go on counting the connections of a lease whose replicas are not ready for a while", async () => {
    const ports = open();
    await ports.set("seven", [port("tcp", 30_001)]);
    for (let n = 0; n < LIMITS.connectionsPerAddress; n++) expect(await hold(30_001)).toMatch(/^10\.78/);
    await ports.set("seven", [port("tcp", 30_001, [])]);
    await ports.set("seven", [port("tcp", 30_001)]);
    expect(await hold(30_001)).toBe(`process ${CLIENTS[0]}`);
    expect(await hold(30_001, CLIENTS[1])).toMatch(/^10\.78/);
    await agentOf(client).do("drop");
    await ports.set("seven", []);
    expect(await inHost("nft", ["list", "ruleset"])).not.toContain("seven");
  });

  it("send UDP clients of a replica that went to another", async () => {
    const ports = open();
    const ask = () => agentOf(client).do("ask", { host: HOST, port: 30_002, from: "same" });
    await ports.set("three", [port("udp", 30_002, REPLICAS.slice(0, 1))]);
    expect([await ask(), await ask()]).toEqual([REPLICAS[0], REPLICAS[0]]);
    await ports.set("three", [port("udp", 30_002, REPLICAS.slice(1))]);
    expect(await ask()).toBe(REPLICAS[1]);
    await ports.set("three", []);
    expect(await ask()).toBe("process");
  });

  it("listen to one address where that is asked, and never to tenants", async () => {
    const ports = open();
    await ports.set("four", [{ ...port("tcp", 30_001), host: "10.77.0.9" }]);
    expect(await hold(30_001)).toBe(`process ${CLIENTS[0]}`);
    await ports.set("four", [{ ...port("tcp", 30_001), host: HOST }]);
    expect(await hold(30_001, CLIENTS[2])).toMatch(/^10\.78/);
    const inside = agentOf(replica).do("hold", { host: HOST, port: 30_001, from: REPLICAS[0] });
    expect(await inside).toBe(`process ${REPLICAS[0]}`);
    // The host reaches its own address, not its loopback.
    expect(await agentOf(host).do("hold", { host: HOST, port: 30_001, from: HOST })).toMatch(/^10\.78/);
    const loopback = agentOf(host).do("hold", { host: "127.0.0.1", port: 30_001, from: "127.0.0.1" });
    expect(await loopback).toBe("process 127.0.0.1");
  });

  it("hold what they have when a tool fails, come back after a flush, and are taken away as a whole", async () => {
    let isBroken = false;
    const ports = open((tool, args, input) =>
      isBroken && tool === "nft" ? Promise.reject(new Error("no")) : inHost(tool, args, input),
    );
    await ports.set("five", [port("tcp", 30_002)]);
    isBroken = true;
    await expect(ports.set("five", [port("tcp", 30_002, REPLICAS.slice(1))])).rejects.toThrow("no");
    await expect(ports.set("six", [])).rejects.toThrow("no");
    expect(await hold(30_002)).toMatch(/^10\.78/);
    isBroken = false;
    // The next refresh sets the failed port: only the second replica is left.
    await ports.refresh();
    expect(await hold(30_002)).toBe(`${REPLICAS[1]} ${CLIENTS[0]}`);
    await inHost("nft", ["flush", "ruleset"]);
    expect(await hold(30_002, CLIENTS[1])).toBe(`process ${CLIENTS[1]}`);
    await ports.refresh();
    expect(await hold(30_002, CLIENTS[1])).toMatch(/^10\.78/);
    expect(await inHost("iptables", ["-S", "FORWARD"])).toContain("--ctdir ORIGINAL");
    await ports.clear();
    expect(await inHost("nft", ["list", "ruleset"])).not.toContain("svc-t-ports");
    expect(await inHost("iptables", ["-S", "FORWARD"])).not.toContain("--ctdir ORIGINAL");
    expect(await hold(30_002, CLIENTS[2])).toBe(`process ${CLIENTS[2]}`);
  });
});

function network(client: string, host: string, replica: string): void {
  for (const namespace of [client, host, replica]) {
    ip("netns", "add", namespace);
    ip("-n", namespace, "link", "set", "lo", "up");
  }
  ip("link", "add", "eth0", "netns", client, "type", "veth", "peer", "name", "eth0", "netns", host);
  ip("link", "add", "eth0", "netns", replica, "type", "veth", "peer", "name", "eth1", "netns", host);
  ip("-n", host, "link", "add", "svctbr0", "type", "bridge");
  ip("-n", host, "link", "set", "eth1", "master", "svctbr0");
  const addresses: [namespace: string, link: string, addresses: readonly string[]][] = [
    [client, "eth0", CLIENTS],
    [host, "eth0", [HOST]],
    [host, "svctbr0", ["10.78.0.1"]],
    [replica, "eth0", REPLICAS],
  ];
  for (const [namespace, link, all] of addresses) {
    for (const address of all) ip("-n", namespace, "addr", "add", `${address}/24`, "dev", link);
    ip("-n", namespace, "link", "set", link, "up");
  }
  ip("-n", host, "link", "set", "eth1", "up");
  ip("-n", client, "route", "add", "default", "via", HOST);
  ip("-n", replica, "route", "add", "default", "via", "10.78.0.1");
  ip("netns", "exec", host, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
  // As on hosts whose own rules let nothing through.
  ip("netns", "exec", host, "iptables", "-P", "FORWARD", "DROP");
  ip("netns", "exec", host, "iptables", "-A", "FORWARD", "-m", "conntrack", "--ctstate", "ESTABLISHED", "-j", "ACCEPT");
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"], env: adminEnvironment() });
}

function adminEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };
}

function hasTools(): boolean {
  return ["ip", "nft", "iptables", "conntrack"].every((tool) => {
    try {
      execFileSync(tool, ["--version"], { stdio: "ignore", env: adminEnvironment() });
      return true;
    } catch (error) {
      return !(error instanceof Error && "code" in error && error.code === "ENOENT");
    }
  });
}
