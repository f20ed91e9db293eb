import { afterEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { deployErrors } from "../../tenant/session/errors.ts";
import type { Offer } from "../../tenant/session/offer.ts";
import { parseDecCoin, SvcError } from "../../util/index.ts";
import { resolveFlags } from "../command/flags.ts";
import { commandError } from "../errors.ts";
import type { Io } from "../terminal/io.ts";
import { terminalQuestions, terminalReporter } from "./commands.ts";
import { errorJson } from "./ending.ts";
import { readDseq, readRequest } from "./policy.ts";
import { DEPLOY } from "./specs.ts";

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
    expect(() => readDseq(dseq({}), "web")).toThrow("the number of a deployment is 1 or more");
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
    expect(help.out).toContain("Close a deployment");
    expect((await runCli(["deploy", "--new", "update", "--help"])).out).toContain("Usage: svc deploy update <file>");
  });

  test("single transactions are made by other commands", async () => {
    for (const flag of ["--offline", "--generate-only", "--dry-run", "--sequence=4"]) {
      const { code, err } = await runCli(["deploy", "file.yaml", flag]);
      expect(code).toBe(2);
      expect(err).toContain("cannot be used with svc deploy");
    }
  });

  test.each([
    [["deploy", "file.yaml"], "svc tx deployment create --help"],
    [["deploy", "update", "file.yaml"], "svc tx deployment update --help"],
    [["deploy", "close", "138"], "svc tx deployment close --help"],
  ])(
    "%j names the command for a single transaction, and its help lists no flag that it refuses",
    async (words, named) => {
      for (const flag of ["--offline", "--generate-only", "--dry-run", "--sequence=4"]) {
        const { code, err } = await runCli([...words, flag]);
        expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(named) });
      }
      const { out } = await runCli([...words, "--help"]);
      expect(out).toContain("--fees");
      expect(out).not.toMatch(/--(offline|generate-only|dry-run|account-number|sequence|ledger) /);
    },
  );

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
    expect(lines).toHaveLength(2);
    pass(8_000);
    expect(lines).toHaveLength(3);
    pass(32_000);
    expect(lines).toHaveLength(4);
    pass(600_000);
    expect(lines.length).toBeLessThanOrEqual(10);
    reporter.step({ name: "bid", ms: 1, at: 700_000 }, "cheapest");
    reporter.waiting("a lease");
    pass(9_500);
    expect(lines.at(-1)).toContain("still waiting for a lease");
    lines.splice(3);
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
    return {
      bid: { id, state: "open", price: parseDecCoin("1utoken"), createdAt: 1n },
      host: "",
      attributes: [],
      auditors: [],
    };
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
});
