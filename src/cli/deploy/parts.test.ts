import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import type { LeaseStatus } from "../../client/index.ts";
import { parseDecCoin, SvcError } from "../../util/index.ts";
import { commandError } from "../errors.ts";
import { resolveFlags } from "../flags.ts";
import type { Io } from "../io.ts";
import type { Offer } from "./bid-table.ts";
import { errorJson } from "./ending.ts";
import { deployErrors } from "./errors.ts";
import { readState } from "./live-gate.ts";
import { leastDeposit } from "./order.ts";
import { readDseq, readRequest } from "./policy.ts";
import { isFromService, networkProbe } from "./probe.ts";
import { terminalQuestions } from "./questions.ts";
import { missingServices } from "./ready.ts";
import { remedyFor } from "./refusals.ts";
import { DEPLOY } from "./specs.ts";
import { terminalReporter } from "./terminal-reporter.ts";
import { textTable } from "./text-table.ts";

const flags = (given: Readonly<Record<string, string | boolean>>) =>
  resolveFlags(DEPLOY.flags ?? [], new Map(Object.entries(given)), {});

describe("flags", () => {
  test("what to buy", () => {
    expect(readRequest(flags({ "max-price": "10.5utoken/block", deposit: "7utoken", new: true }), true)).toEqual({
      policy: { choice: { kind: "ask" }, maxPrice: parseDecCoin("10.5utoken") },
      bidWindow: 2n,
      timeoutMs: 300_000,
      fresh: true,
      deposit: { denom: "utoken", amount: 7n },
    });
    expect(readRequest(flags({}), false).policy).toEqual({ choice: { kind: "cheapest" } });
    const address = "svc1z4eqld03t9z6gu5svrx2h7r9gk8fg4w3yqyrc2";
    expect(readRequest(flags({ bid: address }), true).policy).toEqual({ choice: { kind: "provider", address } });
  });

  test.each([
    [{ bid: "dearest" }, "--bid takes cheapest or the address of a provider"],
    [{ "max-price": "cheap" }, '--max-price: invalid price "cheap"'],
    [{ deposit: "1.5utoken" }, '--deposit: invalid coin "1.5utoken"'],
    [{ timeout: "soon" }, "--timeout takes a duration"],
    [{ "bid-window": "-1" }, "--bid-window takes a whole number"],
  ])("%o is refused", (given, text) => {
    expect(() => readRequest(flags(given), false)).toThrow(text);
  });

  test("which deployment", () => {
    const dseq = (given: Record<string, string>) =>
      resolveFlags([{ name: "dseq", value: "<n>", summary: "" }], new Map(Object.entries(given)), {});
    expect(readDseq(dseq({}))).toBeUndefined();
    expect(readDseq(dseq({ dseq: "7" }))).toBe(7n);
    expect(readDseq(dseq({}), "8")).toBe(8n);
    expect(() => readDseq(dseq({ dseq: "7" }), "8")).toThrow("the argument says deployment 8, --dseq says 7");
    expect(() => readDseq(dseq({}), "web")).toThrow("a deployment has a number");
  });
});

describe("the command line", () => {
  test("the group itself runs a file, and its words are commands", async () => {
    const missing = await runCli(["deploy", "--from", "alice", "no-such-file.yaml"]);
    expect(missing).toMatchObject({ code: 1, out: "" });
    expect(missing.err).toContain("cannot read the deployment file");
    expect((await runCli(["deploy"])).err).toContain("missing required argument 'file'");
    const help = await runCli(["deploy", "--help"]);
    expect(help.out).toContain("Usage: svc deploy <file> [flags]");
    expect(help.out).toContain("End a deployment");
    expect((await runCli(["deploy", "--new", "update", "--help"])).out).toContain("Usage: svc deploy update <file>");
  });

  test("single transactions are made by other commands", async () => {
    for (const flag of ["--offline", "--generate-only", "--dry-run", "--sequence=4"]) {
      const { code, err } = await runCli(["deploy", "file.yaml", flag]);
      expect(code).toBe(2);
      expect(err).toContain("cannot be used with svc deploy");
    }
  });

  test("errors are JSON too where results are", async () => {
    const { code, out } = await runCli(["deploy", "no-such-file.yaml", "-o", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      error: { message: expect.stringContaining("cannot read"), codespace: "cli", code: 1 },
    });
  });
});

describe("errors as JSON", () => {
  test("have the remedy and the numbers where there are such", () => {
    expect(errorJson(new SvcError("market", 13, "order not open"))).toEqual({
      error: { message: "order not open", codespace: "market", code: 13 },
    });
    expect(errorJson(commandError("no", { hint: "do" }))).toMatchObject({ error: { hint: "do" } });
    expect(errorJson(new Error("x"))).toEqual({ error: { message: "x" } });
  });
});

describe("deposits", () => {
  const terms = { minDeposits: [{ denom: "utoken", amount: 5n }], startBlocks: 100n };

  test("the chain's least, or what the first blocks may cost", () => {
    expect(leastDeposit(parseDecCoin("0.01utoken"), terms)).toEqual({ denom: "utoken", amount: 5n });
    expect(leastDeposit(parseDecCoin("0.0512utoken"), terms)).toEqual({ denom: "utoken", amount: 6n });
  });

  test("another denomination is refused with the right one", () => {
    expect(() => leastDeposit(parseDecCoin("1stake"), terms)).toThrow("deployments are paid in utoken");
  });
});

describe("reasons for not bidding", () => {
  test.each([
    ["our price 2utoken per block is above the order's 1utoken", "raise the amount under pricing"],
    ["insufficient capacity: 500m cpu wanted", "ask for less cpu"],
    ["the order requires attribute region=eu, this provider does not have it", "change or remove the attribute"],
    ["the order requires the signature of an auditor that this provider does not have", "change or remove signedBy"],
    ["a service of the order has less memory than a container needs: at least 6Mi", "write a larger memory.size"],
    ["this provider serves only orders that ask for tier=one", "add that attribute"],
    ["the order asks for a gpu, this provider has none", "ask for what this provider has"],
    [
      "the provider has 1utoken, a bid takes a deposit of 5utoken and a fee of 1utoken: fund the provider's account",
      "has to fund",
    ],
  ])("%s", (reason, remedy) => {
    expect(remedyFor(reason)).toContain(remedy);
  });

  test("one that nobody knows has no remedy", () => expect(remedyFor("because")).toBeUndefined());
});

describe("a provider's status", () => {
  const service = {
    name: "web",
    available: 2,
    total: 2,
    uris: ["a.example"],
    observed_generation: 1,
    replicas: 2,
    updated_replicas: 2,
    ready_replicas: 2,
    available_replicas: 2,
    urls: ["http://127.0.0.1:1/", "javascript:alert(1)"],
    pods: [],
  };
  const status: LeaseStatus = {
    services: { web: service },
    forwarded_ports: { web: [{ host: "h", port: 9000, externalPort: 30_000, proto: "UDP", name: "web" }] },
    state: "running",
    health: "ok",
    version: "ab",
    generation: 1,
    withheld_hosts: [],
  };

  test("in our terms", () => {
    expect(readState(status)).toEqual({
      version: "ab",
      services: [{ name: "web", available: 2, total: 2, updated: 2, urls: ["http://127.0.0.1:1/"] }],
      ports: [{ service: "web", host: "h", port: 30_000, containerPort: 9000, proto: "UDP" }],
    });
    expect(missingServices(readState(status), "ab")).toBeUndefined();
    expect(readState({ ...status, health: "unknown" }).unknown).toBe(true);
    const plain = { ...status, services: { web: { ...service, urls: [] } } };
    expect(readState(plain).services[0]?.urls).toEqual(["http://a.example"]);
  });

  test("replicas of the manifest before do not count", () => {
    expect(missingServices(readState({ ...status, generation: 2 }), "ab")).toBe("service web (0 of 2 replicas ready)");
    expect(missingServices(readState(status), "cd")).toBe("the provider to put the manifest in force");
    expect(missingServices({ version: "ab", services: [], ports: [] }, "ab")).toBe("the services");
    const failing = { ...status, services: { web: { ...service, available: 1, error: "image not found" } } };
    expect(missingServices(readState(failing), "ab")).toBe("service web (1 of 2 replicas ready)");
  });
});

describe("looking from outside", () => {
  const never = new AbortController().signal;
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function listen(status: number, body: string): Promise<number> {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  test("the status and the start of the answer", async () => {
    const port = await listen(200, "x".repeat(1000));
    const answer = await networkProbe.http(`http://127.0.0.1:${port}/`, never);
    expect(answer).toEqual({ status: 200, start: "x".repeat(200), isPlain: true });
    const empty = await listen(204, "");
    expect(await networkProbe.http(`http://127.0.0.1:${empty}/`, never)).toMatchObject({ status: 204, start: "" });
  });

  test("names below localhost are this machine", async () => {
    const port = await listen(200, "here");
    const answer = await networkProbe.http(`http://some-name.localhost:${port}/`, never);
    expect(answer).toMatchObject({ status: 200, start: "here" });
    await networkProbe.tcp("other-name.localhost", port, never);
  });

  test("nobody there", async () => {
    const port = await listen(200, "");
    for (const close of closers.splice(0)) close();
    await expect(networkProbe.http(`http://127.0.0.1:${port}/`, never)).rejects.toThrow("ECONNREFUSED");
    await expect(networkProbe.tcp("127.0.0.1", port, never)).rejects.toThrow("ECONNREFUSED");
  });

  test("what the ingress says for a service is no answer of the service", () => {
    expect(isFromService({ status: 503, start: "" })).toBe(false);
    expect(isFromService({ status: 404, start: "404 No deployment on this provider has this host name.\n" })).toBe(
      false,
    );
    expect(isFromService({ status: 404, start: "no such page" })).toBe(true);
    expect(isFromService({ status: 500, start: "" })).toBe(true);
  });
});

describe("the terminal", () => {
  afterEach(() => vi.useRealTimers());

  test("a line for each step, and a reminder in every long silence", () => {
    vi.useFakeTimers();
    let now = 0;
    const lines: string[] = [];
    const reporter = terminalReporter(
      (text) => lines.push(text),
      () => now,
    );
    const pass = (ms: number): void => {
      for (let passed = 0; passed < ms; passed += 500) {
        now += 500;
        vi.advanceTimersByTime(500);
      }
    };
    reporter.step({ name: "order", ms: 900, at: 1200 }, "deployment 5");
    reporter.waiting("a bid");
    pass(9_500);
    expect(lines).toEqual(["[  1.2s] order        deployment 5\n", "[  8.0s] still waiting for a bid\n"]);
    pass(8_000);
    expect(lines).toHaveLength(3);
    reporter.note("table\nrow\n");
    reporter.waiting("");
    pass(20_000);
    expect(lines.slice(3)).toEqual(["table\nrow\n"]);
    reporter.stop();
  });

  test("a provider's words cannot move the cursor", () => {
    const lines: string[] = [];
    const reporter = terminalReporter((text) => lines.push(text));
    reporter.note("\u001b[2Jgone");
    reporter.stop();
    expect(lines.join("")).not.toContain("\u001b");
  });

  const offers = ["a", "b"].map((provider): Offer => {
    const id = { owner: "o", dseq: 1n, gseq: 1, oseq: 1, provider };
    return { bid: { id, price: parseDecCoin("1utoken"), createdAt: 1n }, host: "", attributes: [], auditors: [] };
  });
  const answers = (...lines: string[]): Io => ({
    isTTY: true,
    out: () => {},
    err: () => {},
    readLine: async () => "",
    readAll: async () => "",
    ask: async () => lines.shift() ?? "",
    password: async () => "",
    confirm: async () => true,
  });
  const chosen = async (...lines: string[]) =>
    (await terminalQuestions(answers(...lines)).choose("web", offers)).id.provider;

  test("a bid is chosen by its number", async () => {
    expect(await chosen("")).toBe("a");
    expect(await chosen("2")).toBe("b");
    expect(await chosen("3", "x", "1")).toBe("a");
    await expect(chosen("q")).rejects.toMatchObject({ code: deployErrors.interrupted.code });
    await expect(chosen("0", "9", "-1")).rejects.toThrow("exit 2");
  });

  test("columns are as wide as their widest cell", () => {
    expect(
      textTable([
        ["A", "LONG", "C"],
        ["abc", "", "d"],
      ]),
    ).toBe("A    LONG  C\nabc        d\n");
    expect(textTable([])).toBe("");
  });
});
