import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FixedChain, fixedChain } from "../../../test/cli/fixed-chain.ts";
import { tableOf } from "./table.ts";

const bid = (state: string, provider: string) => ({
  bid: {
    bid_id: { owner: "svc1owner", dseq: "7", gseq: 1, oseq: 1, provider },
    state,
    price: { denom: "utoken", amount: "2.500000000000000000" },
  },
  escrow_account: { balance: { denom: "utoken", amount: "5" }, deposits: [] },
});

describe("tableOf", () => {
  test("shows the chosen columns of a list, with amounts in one word", () => {
    const answer = { bids: [bid("open", "svc1a"), bid("lost", "svc1b")], pagination: { next_key: null, total: "0" } };
    expect(tableOf(answer, 80)).toEqual({
      isCut: false,
      text: [
        "DSEQ  GSEQ  OSEQ  STATE  PRICE      PROVIDER  OWNER",
        "7     1     1     open   2.5utoken  svc1a     svc1owner",
        "7     1     1     lost   2.5utoken  svc1b     svc1owner",
        "",
      ].join("\n"),
    });
  });

  test("shows all simple values of other lists, and the key of the next page", () => {
    const rows = [
      { key: { id: "1" }, on: false, note: "a\nb\u001b[2J" },
      { key: { id: "22" }, on: true, note: "" },
    ];
    expect(tableOf({ rows, pagination: { next_key: "AQ==", total: "0" } }, 80)).toEqual({
      isCut: false,
      text: "ID  ON     NOTE\n1   false  a b\\u001b[2J\n22  true\n",
      next: "AQ==",
    });
  });

  test("cuts lines at the width", () => {
    const { text = "", isCut } = tableOf({ bids: [bid("open", "svc1a".padEnd(60, "x"))] }, 50) ?? {};
    expect(isCut).toBe(true);
    for (const line of text.trim().split("\n")) expect(line.length).toBeLessThanOrEqual(50);
    expect(text).toContain("svc1axx");
    expect(text).toContain("...\n");
  });

  test.each([
    ["a record", { balance: { denom: "utoken", amount: "1" } }],
    ["a record with a list of its own", { owner: "a", attributes: [{ key: "k", value: "v" }] }],
    ["two lists", { rewards: [{ a: "1" }], total: [{ a: "1" }] }],
    ["an empty list", { bids: [], pagination: { next_key: null, total: "0" } }],
    ["a list of texts", { addresses: ["a"], pagination: null }],
    ["a text", "a"],
  ])("leaves %s to YAML", (_, value) => {
    expect(tableOf(value, 80)).toBeUndefined();
  });
});

describe("at a terminal", () => {
  let chain: FixedChain;
  beforeAll(async () => {
    chain = await fixedChain("alice");
  });
  afterAll(() => chain.stop());

  test("lists are tables where no format is chosen, and nowhere else", async () => {
    const argv = ["query", "bank", "balances", chain.addresses.alice ?? ""];
    const away = await chain.run(argv);
    expect(away.out).toContain("balances:\n- amount:");
    const table = "DENOM   AMOUNT\nstake   5000\nutoken  1000000000000\n";
    expect(await chain.run(argv, { columns: 80 })).toEqual({ code: 0, out: table, err: "" });
    expect(await chain.run([...argv, "-o", "text"], { columns: 80 })).toEqual(away);
    expect(await chain.run(argv, { columns: 80, env: { SVC_OUTPUT: "text" } })).toEqual(away);
    const json = await chain.run([...argv, "-o", "json"]);
    expect(await chain.run([...argv, "-o", "json"], { columns: 80 })).toEqual(json);
  });

  test("records stay as they are", async () => {
    const argv = ["query", "bank", "balance", chain.addresses.alice ?? "", "utoken"];
    expect(await chain.run(argv, { columns: 80 })).toEqual(await chain.run(argv));
  });

  test("a table that was cut says how to see all, and a page how to go on", async () => {
    const { out, err } = await chain.run(["query", "auth", "accounts", "--limit", "1"], { columns: 30 });
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(30);
    expect(err).toMatch(/^more rows follow: --page-key \S+\nlines are cut at the width of the terminal; -o text /);
  });

  test("keys are listed with name, type and address", async () => {
    const address = chain.addresses.alice ?? "";
    const { out } = await chain.run(["keys", "list"], { columns: 80 });
    expect(out).toBe(`NAME   TYPE   ADDRESS\nalice  local  ${address}\n`);
    expect((await chain.run(["keys", "list"])).out).toContain("- name: alice\n");
  });
});
