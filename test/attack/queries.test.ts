import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../support/ports.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { ask, callText, type Door } from "./lib/sockets.ts";

let node: AttackedNode;
let rest: Door;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  rest = { host: "127.0.0.1", port };
  node = await AttackedNode.start({ flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`] });
});
afterAll(() => node?.close());

const LISTS = [
  "/cosmos/auth/v1beta1/accounts",
  "/cosmos/bank/v1beta1/supply",
  "/cosmos/staking/v1beta1/validators",
  "/svc/deployment/v1beta1/deployments/list",
  "/svc/market/v1beta1/leases/list",
];
const NO_NUMBERS = ["", "-1", "1.5", "abc", "1e3", "0x1", " 1", "18446744073709551616", "9".repeat(400)];
const NO_PATHS = ["//", "/cosmos//auth", `${LISTS[0]}/../../..`, "/%2e%2e/etc/passwd", "/%00", `/${"a".repeat(8192)}`];
const NO_BROADCASTS = [
  ...["", "{", "[]", "null", '{"__proto__":{"tx_bytes":"AA=="}}'],
  ...["!!", "A A=", "-_8="].map((tx_bytes) => JSON.stringify({ tx_bytes, mode: "BROADCAST_MODE_SYNC" })),
  ...["BROADCAST_MODE_X", 7].map((mode) => JSON.stringify({ tx_bytes: "AA==", mode })),
];

/** The questions whose answers had another status, with that status. */
async function others(status: number, asked: readonly (readonly [path: string, body?: string])[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const [path, body] of asked) {
    const answer = await ask(rest, path, body);
    if (answer.status !== status)
      wrong.push(`${answer.status}: ${path.slice(0, 100)} ${body ?? ""} ${answer.text.slice(0, 200)}`);
  }
  return wrong;
}

async function abciCode(params: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const { text } = await ask(node.door, "/", callText("abci_query", params));
  return /"code":(-?\d+)/.exec(text)?.[1];
}

describe("mistakes of clients are reported as such by REST, and never as faults of the node", () => {
  it("in limits and offsets of pages", async () => {
    const pages = (numbers: readonly string[], field: string) =>
      numbers.map((value): [string] => [`${LISTS[0]}?pagination.${field}=${encodeURIComponent(value)}`]);
    expect(
      await others(
        400,
        ["limit", "offset"].flatMap((field) => pages(NO_NUMBERS, field)),
      ),
    ).toEqual([]);
    expect(await others(400, pages(["1001", "18446744073709551615"], "limit"))).toEqual([]);
    expect(await others(200, pages(["0", "1000"], "limit"))).toEqual([]);
    expect(await others(200, pages(["0", "18446744073709551615"], "offset"))).toEqual([]);
  });

  it("in keys of pages", async () => {
    const keyed = (key: string) => LISTS.map((list): [string] => [`${list}?pagination.key=${encodeURIComponent(key)}`]);
    const foreign = [
      Buffer.from("../../").toString("base64"),
      "/////w==",
      "!",
      Buffer.alloc(900, 255).toString("base64"),
    ];
    expect(await others(400, foreign.flatMap(keyed))).toEqual([]);
    expect(await others(431, keyed(Buffer.alloc(12_000, 255).toString("base64")))).toEqual([]);
    expect(await others(400, [[`${LISTS[0]}?pagination.key=AA%3D%3D&pagination.offset=1`]])).toEqual([]);
  });

  it("in paths, as the reference answers routes that it lacks", async () => {
    expect(
      await others(
        501,
        NO_PATHS.map((path): [string] => [path]),
      ),
    ).toEqual([]);
    expect(await others(400, [["/%ff"], ["/cosmos/bank/v1beta1/balances/%2e%2e"]])).toEqual([]);
  });

  it("in what is not a transaction", async () => {
    const bodies = ["txs", "simulate"].flatMap((what) =>
      NO_BROADCASTS.map((body): [string, string] => [`/cosmos/tx/v1beta1/${what}`, body]),
    );
    expect(await others(400, bodies)).toEqual([]);
  });
});

describe("what is asked of the application by its path", () => {
  it.each([
    ["a store that is not there", { path: "/store/nothing/key", data: "00" }, "6"],
    ["all keys of a store", { path: "/store/bank/subspace", data: "00" }, "6"],
    ["no key", { path: "/store/bank/key", data: "" }, "18"],
    ["a key of 1,025 bytes", { path: "/store/bank/key", data: "00".repeat(1025) }, "18"],
    ["a key of 300,000 bytes", { path: "/store/bank/key", data: "00".repeat(300_000) }, "18"],
    ["a request that is none", { path: "/cosmos.auth.v1beta1.Query/Accounts", data: "ff" }, "18"],
    ["a query that is not there", { path: "/cosmos.auth.v1beta1.Query/Nothing", data: "" }, "6"],
    ["filters of peers", { path: "/p2p/filter/addr/1", data: "" }, "6"],
    ["a height before all", { path: "/store/bank/key", data: "00", height: "-1", prove: true }, "26"],
    ["a height to come", { path: "/store/bank/key", data: "00", height: "999999999", prove: true }, "26"],
    ["a height that is none", { path: "/store/bank/key", data: "00", height: "1.5", prove: true }, "-32602"],
  ])("is refused by its number: %s", async (_, params, code) => {
    expect(await abciCode(params)).toBe(code);
  });

  it("may be a key of the greatest length", async () => {
    expect(await abciCode({ path: "/store/bank/key", data: "00".repeat(1024), prove: true })).toBe("0");
  });

  it("has stopped nothing", async () => {
    const height = await node.height();
    await expect.poll(() => node.height(), { timeout: 30_000 }).toBeGreaterThan(height);
  });
});
