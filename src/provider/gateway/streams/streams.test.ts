import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { publish, testCertificate } from "../../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import type { GatewayClient, ShellRequest, StreamEnd } from "../../../client/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import { FRAME } from "./frames.ts";
import { CLOSE } from "./stream.ts";

let harness: GatewayHarness | undefined;

async function open(...options: Parameters<typeof GatewayHarness.open>): Promise<GatewayHarness> {
  harness = await GatewayHarness.open(...options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const stream = (change: object = {}) => ({
  services: [],
  follow: false,
  tail: -1,
  signal: new AbortController().signal,
  ...change,
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const shell = (command: readonly string[], change: Partial<ShellRequest> = {}): ShellRequest => ({
  service: "job",
  replica: 0,
  command,
  tty: false,
  stdin: false,
  ...change,
});

/** Something that happens once and is waited for. */
function latch(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

/** Runs a command to its end. */
async function run(client: GatewayClient, lease: LeaseKey, request: ShellRequest, input?: string) {
  const session = await client.shell(lease, request);
  if (input !== undefined) {
    session.write(Buffer.from(input));
    session.endInput();
  }
  const text = { stdout: "", stderr: "" };
  for await (const { stream: name, data } of session.output()) text[name] += Buffer.from(data).toString("utf8");
  return { ...session.result(), ...text };
}

/** A raw websocket, with a record of its events. */
function raw(gateway: GatewayHarness, path: string, options: object = {}) {
  const { certificate, privateKey } = gateway.certificate;
  const socket = new WebSocket(`wss://127.0.0.1:${gateway.port}${path}`, {
    rejectUnauthorized: false,
    cert: certificate,
    key: privateKey,
    ...options,
  });
  const messages: Buffer[] = [];
  socket.on("message", (data: Buffer) => messages.push(data));
  const ended = new Promise<{ code: number; reason: string; status?: number }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString("utf8") }));
    socket.on("unexpected-response", (_request, response) => {
      resolve({ code: 0, reason: "", status: response.statusCode ?? 0 });
      response.resume();
    });
    socket.on("error", () => {});
  });
  return { socket, messages, ended };
}

const SHELL = "/lease/1/1/1/shell?service=job&podIndex=0&tty=0&stdin=1";

describe.each(["certificate", "token"] as const)("streams with a %s", (kind) => {
  it("carry logs of chosen services, the last lines of them, and follow until the reader stops", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n, { job: "echo one; echo two; sleep 0.3; echo three; sleep 1000" });
    const client = gateway.client(gateway.credential(kind));
    const seen: string[] = [];
    for await (const line of client.logs(lease, stream({ follow: true, services: ["job"] }))) {
      expect(line.name).toBe("job-0");
      seen.push(line.message);
      if (line.message === "three") break;
    }
    expect(seen).toEqual(["one", "two", "three"]);
    const fields = { kind: "logs", lease: formatLeaseId(lease) };
    expect(gateway.world.logs).toContainEqual({ level: "I", message: "gateway stream", fields });
    const last = await all(client.logs(lease, stream({ services: ["job"], tail: 1 })));
    const time = last[0]?.time ?? "";
    expect(last).toEqual([{ name: "job-0", message: "three", time, stream: "stdout" }]);
    const since = new Date(Date.parse(time));
    expect((await all(client.logs(lease, { ...stream(), since }))).map(({ message }) => message)).toEqual(["three"]);
  });

  it("carry the lines of the run before a restart that the tenant asked for", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n, { job: "echo begun; sleep 1000" });
    const client = gateway.client(gateway.credential(kind));
    const previous = { ...stream(), previous: true };
    expect(await all(client.logs(lease, previous))).toEqual([]);
    await client.restart(lease, "job");
    await expect
      .poll(async () => (await all(client.logs(lease, previous))).map(({ message }) => message))
      .toEqual(["begun"]);
    await expect(client.restart(lease, "other")).rejects.toThrow(/other/);
  });

  it("carry events of cluster and provider", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n);
    const client = gateway.client(gateway.credential(kind));
    const events = await all(client.events(lease, stream()));
    const reasons = events.map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(["ManifestReceived", "Pulling", "Started"]));
    const times = events.map(({ time }) => Date.parse(time));
    expect(times.every((time) => !Number.isNaN(time))).toBe(true);
  });

  it("carry a command: output, input and exit code", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const client = gateway.client(gateway.credential(kind));
    expect(await run(client, lease, shell(["echo", "hello"]))).toEqual({
      exitCode: 0,
      message: "",
      stdout: "hello\n",
      stderr: "",
    });
    expect(await run(client, lease, shell(["sh", "-c", "echo bad >&2; exit 7"]))).toMatchObject({
      exitCode: 7,
      stderr: "bad\n",
    });
    const text = "x".repeat(100_000);
    expect(await run(client, lease, shell(["cat"], { stdin: true }), text)).toMatchObject({
      exitCode: 0,
      stdout: text,
    });
  });
});

describe("shell", () => {
  it("sends the result as its last frame", async () => {
    const gateway = await open();
    await gateway.run(1n, { job: "sleep 1000" });
    const { messages, ended } = raw(gateway, `${SHELL}&cmd0=echo&cmd1=hi`);
    expect(await ended).toEqual({ code: CLOSE.done, reason: "" });
    expect(messages.map((message) => message[0])).toEqual([FRAME.stdout, FRAME.result]);
    expect(messages.at(-1)?.subarray(1).toString("utf8")).toBe('{"exit_code":0,"message":""}');
  });

  it("names a replica or service that is not there", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const client = gateway.client(gateway.credential("certificate"));
    expect(await run(client, lease, shell(["true"], { replica: 9 }))).toMatchObject({
      exitCode: 126,
      message: expect.stringContaining("job-9"),
    });
    expect(await run(client, lease, shell(["true"], { service: "nope" }))).toMatchObject({
      message: expect.stringContaining("it has job, web"),
    });
  });

  it("needs all its parameters, and good ones", async () => {
    const gateway = await open();
    await gateway.run(1n, { job: "sleep 1000" });
    const bad = [
      "/lease/1/1/1/shell",
      SHELL,
      `${SHELL}&cmd1=echo`,
      `${SHELL}&cmd0=`,
      `${SHELL}&cmd0=a%00b`,
      "/lease/1/1/1/shell?service=job&podIndex=0&tty=2&stdin=0&cmd0=true",
      "/lease/1/1/1/shell?service=job&podIndex=-1&tty=0&stdin=0&cmd0=true",
      "/lease/1/1/1/shell?service=a,b&podIndex=0&tty=0&stdin=0&cmd0=true",
      "/lease/1/1/1/logs?tail=-2",
      "/lease/1/1/1/logs?since=yesterday",
      "/lease/1/1/1/logs?previous=1&follow=1",
      "/lease/1/1/1/kubeevents?previous=1",
      "/lease/1/1/1/logs?tail=1000000000000",
      "/lease/1/1/1/logs?service=a,,b",
      "/lease/1/1/1/logs?service=a,",
      "/lease/1/1/1/logs?services=job",
    ];
    for (const path of bad) expect([path, (await raw(gateway, path).ended).status]).toEqual([path, 400]);
  });

  it("takes a token once", async () => {
    const gateway = await open();
    await gateway.run(1n, { job: "sleep 1000" });
    const { makeToken } = await import("../../../client/index.ts");
    const credential = gateway.credential("token");
    if (credential.kind !== "token") throw new Error("no token");
    const token = await makeToken(credential, { provider: PROVIDER, scope: "shell", dseq: 1n }, Date.now());
    const headers = { authorization: `Bearer ${token}` };
    const options = { cert: undefined, key: undefined, headers };
    expect(await raw(gateway, `${SHELL}&cmd0=true`, options).ended).toMatchObject({ code: CLOSE.done });
    expect((await raw(gateway, `${SHELL}&cmd0=true`, options).ended).status).toBe(401);
  });

  it("ends the command when the client goes", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const { driver } = gateway.world;
    const { exec } = driver;
    let code: Promise<number> | undefined;
    driver.exec = async (...request) => {
      const session = await exec.apply(driver, request);
      code = session.exitCode;
      return session;
    };
    const client = gateway.client(gateway.credential("certificate"));
    const session = await client.shell(lease, shell(["sleep", "1000"]));
    session.close();
    await all(session.output());
    expect(await code).toBe(137);
  });

  it("makes the command wait while the client does not read, for as long as that takes", async () => {
    const gateway = await open({ ping: 500, pongWait: 1500 });
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const { driver } = gateway.world;
    const { exec } = driver;
    const [count, size] = [1000, 60_000];
    let written = 0;
    driver.exec = async (...request) => ({
      ...(await exec.apply(driver, request)),
      exitCode: Promise.resolve(0),
      output: (async function* () {
        for (; written < count; written++) yield { stream: "stdout" as const, data: Buffer.alloc(size) };
      })(),
    });
    const client = gateway.client(gateway.credential("certificate"));
    const session = await client.shell(lease, shell(["cat"]));
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(written).toBeLessThan(count / 2);
    const read = (await all(session.output())).reduce((sum, { data }) => sum + data.length, 0);
    expect(read).toBe(count * size);
    expect(session.result().exitCode).toBe(0);
  });

  it("makes the client wait while the command does not read", async () => {
    const gateway = await open({ ping: 100, pongWait: 2_000 });
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const { driver } = gateway.world;
    const { exec } = driver;
    let taken = 0;
    let read = () => {};
    const reads = new Promise<void>((resolve) => {
      read = resolve;
    });
    driver.exec = async (...request) => ({
      ...(await exec.apply(driver, request)),
      write: async ({ length }) => {
        taken += length;
        await reads;
      },
    });
    const client = gateway.client(gateway.credential("certificate"));
    const session = await client.shell(lease, shell(["sleep", "1000"], { stdin: true }));
    const [count, size] = [400, 60_000];
    for (let i = 0; i < count; i++) session.write(Buffer.alloc(size));
    while (taken === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    // Long enough for a gateway that does not wait to take everything, and to miss answers to its pings.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(taken).toBeLessThan(32 * size);
    read();
    while (taken < count * size) await new Promise((resolve) => setTimeout(resolve, 20));
    session.close();
    await all(session.output());
  });

  it("asks for one size of the terminal at a time, and for the last one in the end", async () => {
    const gateway = await open();
    await gateway.run(1n, { job: "sleep 1000" });
    const { driver } = gateway.world;
    const { exec } = driver;
    const sizes: number[] = [];
    let go = () => {};
    const first = new Promise<void>((resolve) => {
      go = resolve;
    });
    const taken: string[] = [];
    driver.exec = async (...request) => ({
      ...(await exec.apply(driver, request)),
      write: async (data) => void taken.push(Buffer.from(data).toString()),
      resize: async (width) => {
        sizes.push(width);
        await first;
      },
    });
    const { socket, ended } = raw(gateway, `${SHELL}&cmd0=sleep&cmd1=1000`);
    await once(socket, "open");
    for (let width = 1; width <= 200; width++) socket.send(Buffer.of(FRAME.resize, 0, width, 0, 24));
    socket.send(Buffer.concat([Buffer.of(FRAME.stdin), Buffer.from("all")]));
    await expect.poll(() => taken).toEqual(["all"]);
    expect(sizes).toEqual([1]);
    go();
    await expect.poll(() => sizes).toEqual([1, 200]);
    socket.terminate();
    await ended;
  });

  it("takes no input behind the end of the input", async () => {
    const gateway = await open();
    await gateway.run(1n, { job: "sleep 1000" });
    const { driver } = gateway.world;
    const { exec } = driver;
    const calls: string[] = [];
    driver.exec = async (...request) => {
      const session = await exec.apply(driver, request);
      return {
        ...session,
        write: async (data) => void calls.push(Buffer.from(data).toString()),
        endInput: () => void calls.push("end"),
        resize: async () => session.endInput(),
      };
    };
    const { socket, ended } = raw(gateway, `${SHELL}&cmd0=cat`);
    const input = (text: string) => socket.send(Buffer.from(`${String.fromCharCode(FRAME.stdin)}${text}`, "latin1"));
    socket.on("open", () => {
      for (const text of ["one", "", "two", ""]) input(text);
      socket.send(Buffer.of(FRAME.resize, 0, 80, 0, 24));
    });
    expect((await ended).code).toBe(CLOSE.done);
    expect(calls).toEqual(["one", "end"]);
  });

  it("refuses text, too large messages, and pages of other origins that have no token", async () => {
    const gateway = await open();
    await gateway.run(1n, { job: "sleep 1000" });
    const path = `${SHELL}&cmd0=cat`;
    const text = raw(gateway, path);
    text.socket.on("open", () => text.socket.send("hello"));
    expect((await text.ended).code).toBe(1003);
    const large = raw(gateway, path);
    large.socket.on("open", () => large.socket.send(Buffer.alloc(70_000, FRAME.stdin)));
    expect((await large.ended).code).toBe(1009);
    expect((await raw(gateway, path, { origin: "https://evil.example" }).ended).status).toBe(403);
  });
});

describe("an open stream", () => {
  it("ends when the certificate is revoked", async () => {
    const gateway = await open({ recheck: 50 });
    await gateway.run(1n, { job: "sleep 1000" });
    const { socket, ended } = raw(gateway, `${SHELL}&cmd0=cat`);
    socket.on("open", () => publish(gateway.world.chain, gateway.tenant.address, gateway.certificate, "revoked"));
    expect(await ended).toEqual({ code: CLOSE.policy, reason: expect.stringContaining("revoked") });
  });

  it("ends when the token does", async () => {
    const gateway = await open({ recheck: 50 });
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const client = gateway.client(gateway.credential("token"));
    const session = await client.shell(lease, shell(["cat"], { stdin: true }));
    gateway.skew.ms = 3_700_000;
    await all(session.output());
    expect(() => session.result()).toThrow(/expired/);
  });

  it("ends when the lease does", async () => {
    const gateway = await open({ recheck: 50 });
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const client = gateway.client(gateway.credential("certificate"));
    const reading = all(client.logs(lease, stream({ follow: true })));
    setTimeout(() => gateway.world.chain.end(lease), 100);
    await expect(reading).rejects.toMatchObject({ closeCode: CLOSE.leaseNotFound } satisfies Partial<StreamEnd>);
  });

  it("outlives a chain that is away for a moment, and no more", async () => {
    const grace = 60_000;
    const gateway = await open({ recheck: 20, recheckGrace: grace });
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const client = gateway.client(gateway.credential("certificate"));
    const session = await client.shell(lease, shell(["cat"], { stdin: true }));
    gateway.world.chain.down = true;
    await new Promise((resolve) => setTimeout(resolve, 100));
    gateway.world.chain.down = false;
    session.write(Buffer.from("still here"));
    const output = session.output();
    const { value } = await output.next();
    expect(Buffer.from(value?.data ?? []).toString("utf8")).toBe("still here");
    gateway.world.chain.down = true;
    gateway.skew.ms = grace;
    await all(output);
    expect(() => session.result()).toThrow(/cannot query the chain/);
  });

  it("that does not answer pings is cut", async () => {
    const gateway = await open({ ping: 30, pongWait: 60 });
    await gateway.run(1n, { job: "sleep 1000" });
    const { socket, ended } = raw(gateway, `${SHELL}&cmd0=cat`, { autoPong: false });
    expect((await ended).code).toBe(1006);
    expect(socket.readyState).toBe(WebSocket.CLOSED);
  });

  it("of many is refused", async () => {
    const gateway = await open({ streamsPerTenant: 2 });
    await gateway.run(1n, { job: "sleep 1000" });
    const path = "/lease/1/1/1/logs?follow=1";
    const opened = [raw(gateway, path), raw(gateway, path)];
    await Promise.all(opened.map(({ socket }) => new Promise((resolve) => socket.on("open", resolve))));
    expect((await raw(gateway, path).ended).status).toBe(429);
    for (const { socket } of opened) socket.terminate();
    await Promise.all(opened.map(({ ended }) => ended));
  });
});

describe("a stream that is given up before it opens", () => {
  it("does not count", async () => {
    const gateway = await open({ streamsPerTenant: 1, connectionsPerAddress: 1 });
    await gateway.run(1n, { job: "sleep 1000" });
    const path = "/lease/1/1/1/logs?follow=1";
    const { chain } = gateway.world;
    const lease = chain.lease.bind(chain);
    const [asked, gone] = [latch(), latch()];
    chain.lease = async (id) => {
      asked.open();
      await gone.opened;
      return lease(id);
    };
    const left = raw(gateway, path);
    await asked.opened;
    left.socket.terminate();
    // There is room for another connection once the gateway has seen this one end.
    await vi.waitFor(() => gateway.request("/version"), 30_000);
    gone.open();
    await vi.waitFor(async () => {
      const { socket } = raw(gateway, path);
      await new Promise((resolve, reject) => socket.once("open", resolve).once("close", reject));
    }, 30_000);
  });
});

describe("a followed log", () => {
  it("goes on over a break without losing or repeating lines", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n, { job: "echo a; echo a; echo b; sleep 1; echo a; echo b; sleep 1000" });
    const client = gateway.client(gateway.credential("certificate"));
    const breaks: string[] = [];
    const abort = new AbortController();
    const seen: string[] = [];
    const follow = { follow: true, services: ["job"], signal: abort.signal };
    for await (const { message } of client.logs(lease, {
      ...stream(follow),
      onRetry: (error) => breaks.push(error.message),
    })) {
      seen.push(message);
      if (seen.length === 3) gateway.dropStreams();
      if (seen.length === 5) abort.abort();
    }
    expect(seen).toEqual(["a", "a", "b", "a", "b"]);
    expect(breaks).toHaveLength(1);
  });
});

describe("the client", () => {
  it("sends nothing to a server whose certificate is not the provider's on the chain", async () => {
    const gateway = await open();
    const lease = await gateway.run(1n);
    const client = gateway.client(gateway.credential("token"));
    const { certificates } = gateway.world.chain;
    const [path = ""] = [...certificates.keys()].filter((key) => key.startsWith(PROVIDER));
    const serial = BigInt(path.split("/")[1] ?? "");
    const published = certificates.get(path)?.pem;
    // The same name and number, but another certificate.
    const other = await testCertificate({ address: PROVIDER, serial, hosts: ["localhost"] });
    certificates.set(path, { state: "valid", pem: Buffer.from(other.certificate) });
    await expect(client.leaseStatus(lease)).rejects.toThrow(/is not the one that is published on the chain/);
    certificates.set(path, { state: "valid", pem: published ?? new Uint8Array() });
    for (const record of gateway.world.chain.certificates.values()) Object.assign(record, { state: "revoked" });
    await expect(client.leaseStatus(lease)).rejects.toThrow(/revoked: the server is not the provider/);
    gateway.world.chain.certificates.clear();
    await expect(client.leaseStatus(lease)).rejects.toThrow(/not published on the chain/);
    const paths = gateway.world.logs.filter(({ message }) => message === "gateway request");
    expect(paths).toEqual([]);
  });

  it("says where nobody answers", async () => {
    const gateway = await open();
    await gateway.gateway.close();
    await expect(gateway.client().status()).rejects.toThrow(/connection refused.*cannot be reached/);
  });
});
