import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { NodeDouble } from "../../../../test/support/node-double.ts";
import { onChain, sampleDeployment, sampleFile } from "../../../../test/support/provider/deployment.ts";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { openKeyring } from "../../../keyring/index.ts";
import { cleanLine, SvcError } from "../../../util/index.ts";
import { Closed_Reason } from "../../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  Certificate_State,
  Query as CertQuery,
  QueryCertificatesRequestSchema,
} from "../../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { Lease_State } from "../../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery, QueryLeasesRequestSchema } from "../../../wire/gen/svc/market/v1beta1/query_pb.js";
import {
  Query as ProviderQuery,
  QueryProviderRequestSchema,
} from "../../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeMessage } from "../../../wire/index.ts";
import { resolveFlags } from "../../command/flags.ts";
import { GLOBAL_FLAGS } from "../../command/global-flags.ts";
import type { Io } from "../../terminal/io.ts";
import { attachShell, chooseTerminal, type ShellStreams } from "./shell.ts";
import { PROVIDER_CLIENT_COMMANDS } from "./specs.ts";
import { splitWords } from "./words.ts";

let gateway: GatewayHarness;
let node: NodeDouble;
let home: string;

beforeEach(async () => {
  gateway = await GatewayHarness.open({}, { cluster: { leasedIps: ["203.0.113.1"] } });
  node = new NodeDouble();
  await node.start();
  serveChain();
  home = mkdtempSync(join(tmpdir(), "svc-provider-client-"));
  await openKeyring({ backend: "test", dir: home, passphrase: noPassphrase, notify: () => {} }).addLocal(
    "alice",
    gateway.tenant.privateKey,
  );
});

afterEach(async () => {
  await gateway.close();
  await node.stop();
  rmSync(home, { recursive: true, force: true });
});

const noPassphrase = { attempts: 1, ask: () => Promise.reject(new Error("asked for a passphrase")), notify: () => {} };

/** Answers queries for the records of the test's chain as a node does. */
function serveChain(): void {
  const { chain } = gateway.world;
  node.answerQuery(MarketQuery.method.leases, (bytes) => {
    const { filters } = decodeMessage(QueryLeasesRequestSchema, bytes);
    const rows = [...chain.leases.values()].filter(
      ({ id, state }) =>
        (filters?.state === "" || state === filters?.state) && id.owner === filters.owner && id.dseq === filters.dseq,
    );
    return {
      leases: rows.map(({ id, state, closedOn }) => ({
        lease: { leaseId: id, state: Lease_State[state], closedOn, closeReason: Closed_Reason.owner },
      })),
    };
  });
  node.answerQuery(ProviderQuery.method.provider, (bytes) => {
    const { owner } = decodeMessage(QueryProviderRequestSchema, bytes);
    if (owner !== PROVIDER) throw new SvcError("provider", 3, "address not found");
    return { provider: { owner, hostUri: `https://127.0.0.1:${gateway.port}` } };
  });
  node.answerQuery(CertQuery.method.certificates, (bytes) => {
    const { owner = "", serial = "" } = decodeMessage(QueryCertificatesRequestSchema, bytes).filter ?? {};
    const record = chain.certificates.get(`${owner}/${serial}`);
    if (record === undefined) return { certificates: [] };
    const certificate = { state: Certificate_State[record.state], cert: new Uint8Array(record.pem) };
    return { certificates: [{ serial, certificate }] };
  });
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the group as the command line would. */
async function svc(
  name: string,
  args: readonly string[] = [],
  given: Record<string, string | boolean> = {},
  text = { out: "", err: "" },
): Promise<Outcome> {
  const spec = PROVIDER_CLIENT_COMMANDS.find((each) => each.name === name);
  const never = () => Promise.reject(new Error("asked"));
  const io: Io = {
    isTTY: false,
    out: (part) => {
      text.out += part;
    },
    err: (part) => {
      text.err += part;
    },
    readLine: never,
    readAll: never,
    ask: never,
    password: never,
    confirm: never,
  };
  const parsed = new Map(
    Object.entries({ from: "alice", "keyring-backend": "test", home, node: node.address, dseq: "1", ...given }),
  );
  const flags = resolveFlags([...(spec?.flags ?? []), ...GLOBAL_FLAGS], parsed, {});
  const run = await spec?.load?.();
  const code = await run?.({ args, flags, io });
  return { code: code ?? 0, ...text };
}

function writeFile(text: string): string {
  const path = join(home, "deploy.yaml");
  writeFileSync(path, text);
  return path;
}

describe("provider send-manifest", () => {
  it("prints PASS for each provider that took it", async () => {
    const lease = gateway.lease(1n);
    gateway.world.chain.win(lease, onChain(sampleDeployment()));
    const file = writeFile(sampleFile());
    expect(await svc("send-manifest", [file])).toEqual({
      code: 0,
      out: `PROVIDER${" ".repeat(PROVIDER.length - 6)}STATUS  ERROR\n${PROVIDER}  PASS\n`,
      err: "",
    });
    expect(gateway.world.service.find(lease)?.generation).toBe(1);
  });

  it("fails with the provider's reason and the remedy", async () => {
    gateway.world.chain.win(gateway.lease(1n), onChain(sampleDeployment()));
    const file = writeFile(sampleFile({ env: ["A=b"] }));
    const { code, out, err } = await svc("send-manifest", [file], { output: "json" });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual([
      {
        provider: PROVIDER,
        status: "FAIL",
        error: "version_mismatch",
        errorMessage: expect.stringContaining("the chain has"),
      },
    ]);
    expect(err).toContain("svc tx deployment update");
  });

  it("says what to do if there is no lease", async () => {
    await expect(svc("send-manifest", [writeFile(sampleFile())])).rejects.toMatchObject({
      message: expect.stringContaining("no active lease"),
      hint: expect.stringContaining("svc tx market lease create"),
    });
  });

  it("says that a lease has ended, when and why", async () => {
    const lease = gateway.lease(1n);
    gateway.world.chain.win(lease, onChain(sampleDeployment()));
    gateway.world.chain.end(lease, 9n);
    await expect(svc("lease-status")).rejects.toMatchObject({
      message: `the lease of deployment 1 at ${PROVIDER} ended in block 9 (owner)`,
      hint: expect.stringContaining("svc query deployment get --owner"),
    });
  });

  it("sends nothing if the server is not the provider", async () => {
    gateway.world.chain.win(gateway.lease(1n), onChain(sampleDeployment()));
    gateway.world.chain.certificates.clear();
    const { code, out } = await svc("send-manifest", [writeFile(sampleFile())]);
    expect([code, out]).toEqual([1, expect.stringContaining("the server is not the provider")]);
    expect(gateway.world.service.records()).toEqual([]);
  });
});

describe("provider lease-status and its kin", () => {
  it("show the lease", async () => {
    await gateway.run(1n, { nodePorts: [9000] });
    const status = JSON.parse((await svc("lease-status", [], { output: "json" })).out);
    expect(status.services.web).toMatchObject({ name: "web", available: 1, total: 1 });
    expect(status.forwarded_ports.web[0].externalPort).toBe(30_000);
    const service = JSON.parse((await svc("service-status", [], { output: "json", service: "web" })).out);
    expect(service).toEqual(status.services.web);
    const manifest = JSON.parse((await svc("get-manifest", [], { output: "json" })).out);
    expect(manifest[0].services[0].name).toBe("web");
    expect((await svc("lease-status")).out).toMatch(/\nservices:\n {2}web:\n/);
  });

  it("lease-restart starts one service again, and no other", async () => {
    const lease = await gateway.run(1n);
    const restarts = async () => (await gateway.world.driver.status(lease)).services[0]?.replicas[0]?.restarts;
    const before = (await restarts()) ?? 0;
    expect((await svc("lease-restart", [], { service: "web" })).out).toBe("web is restarting\n");
    await vi.waitFor(async () => expect(await restarts()).toBe(before + 1), { timeout: 30_000 });
    const json = await svc("lease-restart", [], { service: "web", output: "json" });
    expect(JSON.parse(json.out)).toEqual({ service: "web", restarting: true });
    await expect(svc("lease-restart", [], { service: "nope" })).rejects.toThrow(/it has web/);
    await expect(svc("lease-restart")).rejects.toThrow(/--service/);
  });

  it("migrate-hostnames leads names to another deployment", async () => {
    await gateway.run(1n, { hosts: ["www.example.org"] });
    await gateway.run(2n, { hosts: ["www.example.org"] });
    const { out } = await svc("migrate-hostnames", ["www.example.org"], { dseq: "2" });
    expect(out).toBe("www.example.org now belongs to deployment 2\n");
    const json = await svc("migrate-hostnames", ["www.example.org"], { output: "json" });
    expect(JSON.parse(json.out)).toEqual({ transferred: ["www.example.org"] });
    await expect(svc("migrate-hostnames", ["shop.example.org"])).rejects.toThrow(
      /not in the manifest of the destination/,
    );
    await expect(svc("migrate-hostnames")).rejects.toThrow(/name the host names/);
  });

  it("migrate-endpoints gives leased addresses to another deployment, and lease-status shows them", async () => {
    await gateway.run(1n, { leasedIps: ["game"] });
    await gateway.run(2n, { leasedIps: ["game"] });
    const { out } = await svc("migrate-endpoints", ["game"], { dseq: "2" });
    expect(out).toBe("leased address game now belongs to deployment 2\n");
    const status = JSON.parse((await svc("lease-status", [], { dseq: "2", output: "json" })).out);
    expect(status.ips.web).toMatchObject([{ IP: "203.0.113.1", ExternalPort: 5300, Endpoint: "game", Assigned: true }]);
    const json = await svc("migrate-endpoints", ["game"], { output: "json" });
    expect(JSON.parse(json.out)).toEqual({ transferred: ["game"] });
    expect(JSON.parse((await svc("lease-status", [], { dseq: "2", output: "json" })).out)).toMatchObject({
      ips: {},
      withheld_endpoints: ["game"],
    });
    await expect(svc("migrate-endpoints", ["voice"])).rejects.toThrow(/destination has no such leased address/);
    await expect(svc("migrate-endpoints")).rejects.toThrow(/name the leased addresses/);
  });

  it("show a provider to anybody", async () => {
    const { out } = await svc("status", [PROVIDER], { output: "json", from: "" });
    expect(JSON.parse(out)).toMatchObject({ address: PROVIDER, bidengine: { orders: 2 } });
    await expect(svc("status", [gateway.tenant.address])).rejects.toThrow(/is not a provider/);
    await expect(svc("status", ["nobody"])).rejects.toThrow(/Bech32|bech32/);
  });

  it("show a provider again after each change, if it reports changes", async () => {
    const given = { output: "json", from: "", watch: true };
    await expect(svc("status", [PROVIDER], given)).rejects.toMatchObject({
      message: expect.stringContaining("names no gRPC port"),
      hint: expect.stringContaining("--gateway-grpc-listen-address"),
    });
    await gateway.close();
    gateway = await GatewayHarness.open({ statusEvery: 10 }, { grpc: true });
    serveChain();
    const text = { out: "", err: "" };
    const ended = expect(svc("status", [PROVIDER], given, text)).rejects.toThrow(/is ending all streams/);
    await vi.waitFor(() => expect(text.out).toMatch(/"orders": ?2\b/), 30_000);
    gateway.sources.orderCount = () => 7;
    await vi.waitFor(() => expect(text.out).toMatch(/"orders": ?7\b/), 30_000);
    gateway.dropStreams();
    await ended;
    gateway.world.chain.certificates.clear();
    await expect(svc("status", [PROVIDER], given)).rejects.toThrow("the server is not the provider");
  });
});

describe("provider lease-logs and lease-events", () => {
  it("print lines with lease and replica, or JSON", async () => {
    const lease = await gateway.run(1n, { job: "echo one; echo two; sleep 1000" });
    await gateway.world.pass(0);
    const { out } = await svc("lease-logs", [], { service: "job" });
    const place = `[${lease.owner}/1/1/1/${PROVIDER}][job-0]`;
    expect(out).toBe(`${place} one\n${place} two\n`);
    const json = await svc("lease-logs", [], { service: "job", tail: "1", output: "json" });
    expect(JSON.parse(json.out)).toEqual({
      name: "job-0",
      message: "two",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      stream: "stdout",
    });
    const timed = await svc("lease-logs", [], { service: "job", tail: "1", timestamps: true });
    expect(timed.out).toMatch(/\[job-0\] \d{4}-\S*Z two\n$/);
    await expect(svc("lease-logs", [], { tail: "-2" })).rejects.toThrow(/--tail/);
    await expect(svc("lease-logs", [], { service: "nope" })).rejects.toThrow(/has no such service/);
  });

  it("print events", async () => {
    await gateway.run(1n);
    const { out } = await svc("lease-events", [], { output: "json" });
    const reasons = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).reason);
    expect(reasons).toEqual(expect.arrayContaining(["ManifestReceived", "Started"]));
    expect((await svc("lease-events")).out).toMatch(/ Normal {2}Pulling {2}/);
  });
});

describe("provider lease-shell", () => {
  it("ends with the exit code of the command", async () => {
    await gateway.run(1n, { job: "sleep 1000" });
    expect((await svc("lease-shell", ["job", "sh", "-c", "exit 7"])).code).toBe(7);
    expect((await svc("lease-shell", ["job", 'sh -c "exit 3"'])).code).toBe(3);
    expect(await svc("lease-shell", ["job", "true"], { "replica-index": "4" })).toMatchObject({
      code: 126,
      err: expect.stringContaining("job-4"),
    });
  });

  it("needs its flags before the service", async () => {
    await expect(svc("lease-shell", ["job", "--dseq", "1"], { dseq: "" })).rejects.toThrow(/before the service/);
    await expect(svc("lease-shell", ["job", ""])).rejects.toThrow(/no command/);
  });

  it("connects the terminal, sends its size, and restores it", async () => {
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const sizes: [number, number][] = [];
    const { exec } = gateway.world.driver;
    gateway.world.driver.exec = async (...request) => {
      const session = await exec.apply(gateway.world.driver, request);
      const resize = session.resize.bind(session);
      session.resize = (width, height) => {
        sizes.push([width, height]);
        return resize(width, height);
      };
      return session;
    };
    const client = gateway.client(gateway.credential("certificate"));
    const request = { service: "job", replica: 0, command: ["cat"], tty: true, stdin: true };
    const { streams, typed, shown, raw } = terminal();
    const done = attachShell(await client.shell(lease, request), streams, { tty: true, stdin: true });
    typed.write("hello");
    typed.end();
    expect(await done).toEqual({ exitCode: 0, message: "" });
    expect(shown()).toBe("hello");
    expect(raw).toEqual([true, false]);
    expect(sizes).toEqual([[120, 40]]);
  });
});

describe("a reader of lease-shell that has gone", () => {
  it("ends it without a word, and the command at the provider", async () => {
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const client = gateway.client(gateway.credential("certificate"));
    const request = { service: "job", replica: 0, command: ["cat"], tty: false, stdin: true };
    const shell = await client.shell(lease, request);
    const { streams, typed } = terminal();
    const broken = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
    broken.on("error", () => {});
    const done = attachShell(shell, { ...streams, output: broken, error: broken }, { tty: false, stdin: true });
    typed.write("hello");
    expect(await done).toEqual({ exitCode: 0, message: "" });
    // Later data meets a closed session.
    const rest: unknown[] = [];
    for await (const output of shell.output()) rest.push(output);
    expect(rest).toEqual([]);
  });
});

/** A terminal of 120 by 40 characters that a test types into. */
function terminal() {
  const typed = new PassThrough();
  const screen = new PassThrough();
  const raw: boolean[] = [];
  const chunks: Buffer[] = [];
  screen.on("data", (chunk: Buffer) => chunks.push(chunk));
  const input = Object.assign(typed, { isTTY: true, setRawMode: (on: boolean) => raw.push(on) });
  const output = Object.assign(screen, { isTTY: true, columns: 120, rows: 40 });
  const streams: ShellStreams = { input, output, error: output };
  return { streams, typed, raw, shown: () => Buffer.concat(chunks).toString("utf8") };
}

describe("texts", () => {
  it("of strangers keep their colours and lose everything else that acts on a terminal", () => {
    expect(cleanLine("a\u001b[31mred\u001b[0m\tb")).toBe("a\u001b[31mred\u001b[0m\tb");
    expect(cleanLine("a\u001b[2Jb\u001b]0;title\u0007c\rd\u009b1me")).toBe("abcd1me");
  });

  it("are split into words as a shell does", () => {
    expect(splitWords(`sh -c "echo 'a b'" ''`)).toEqual(["sh", "-c", "echo 'a b'", ""]);
    expect(() => splitWords('sh -c "echo')).toThrow(/quotes/);
  });
});

describe("terminal and standard input of a shell", () => {
  const streams = (isTTY: boolean): ShellStreams => ({
    input: Object.assign(new PassThrough(), { isTTY }),
    output: Object.assign(new PassThrough(), { isTTY }),
    error: new PassThrough(),
  });
  const shell = PROVIDER_CLIENT_COMMANDS.find(({ name }) => name === "lease-shell");
  const chosen = (given: Readonly<Record<string, boolean>>, isTTY: boolean) => {
    const flags = resolveFlags(shell?.flags ?? [], new Map(Object.entries(given)), {});
    return chooseTerminal({ flags }, streams(isTTY));
  };

  it.each([
    ["at a terminal", {}, true, { tty: true, stdin: true }],
    ["with -i at a terminal", { stdin: true }, true, { tty: false, stdin: true }],
    ["with -it at a terminal", { stdin: true, tty: true }, true, { tty: true, stdin: true }],
    ["from a pipe", {}, false, { tty: false, stdin: true }],
    ["with -i from a pipe", { stdin: true }, false, { tty: false, stdin: true }],
    ["with --stdin=false from a pipe", { stdin: false }, false, { tty: false, stdin: false }],
  ])("%s", (_, given, isTTY, result) => {
    expect(chosen(given, isTTY)).toEqual(result);
  });

  it("-t needs a terminal", () => {
    expect(() => chosen({ tty: true }, false)).toThrow("--tty needs a terminal");
  });

  it.each([
    ["deploy", "shell", "-it", "web", "sh"],
    ["deploy", "shell", "web", "-it", "sh"],
    ["deploy", "shell", "-i", "web", "cat"],
    ["provider", "lease-shell", "-it", "--dseq", "1", "web", "sh"],
  ])("svc %s %s %s is understood", async (...words) => {
    const { err } = await runCli(words, {
      env: { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_NODE: "127.0.0.1:1" },
    });
    expect(err).not.toMatch(/unknown option|too many/);
    expect(err).toMatch(words.includes("-it") ? /--tty needs a terminal/ : /cannot reach the node/);
  });
});
