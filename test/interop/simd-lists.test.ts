import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChainClient } from "../../src/client/index.ts";
import { signTx, testKey } from "../../src/testing/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { txHash } from "../../src/wire/index.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { sampled } from "../support/runs.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type Asked, filled, startBoth } from "./simd-asked.ts";

/** Pages of lists, and searches of transactions, asked of the reference chain and of the built node. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, lists are not compared: ${missing}`,
  () => expect(missing).toBe(""),
);

/** Below `/cosmos`; both chains have as many rows. */
const LISTS = ["bank/v1beta1/balances/<ACCOUNT>", "bank/v1beta1/supply", "staking/v1beta1/validators?status="];
const LIMITS = [undefined, "0", "1", "2", "4", "5", "6", "1000", "18446744073709551616", "-1", "x", "1.5", ""];
const OFFSETS = [undefined, "0", "1", "4", "-1", "x", ""];
const SWITCHES = [undefined, "true", "false", "x"];
/** It shares no divisor with the lengths of the lists, so that each value is asked for. */
const NTH = 5;

/** In every query <H> is the height of the first of five transfers, of 1aaa to 5aaa, and <TX> the hash of the last. */
const SEARCHES = [
  ...["tx.height=<H>", "tx.height='<H>'", "tx.height='x'", "tx.height EXISTS", "tx.height><H>", "tx.height<=<H>"],
  ...["tx.height<<H>", "tx.height>0.5", "tx.height<99999999999999999999", "tx.height CONTAINS '<H>'"],
  ...["tx.height>0 AND tx.height<100000", "tx.height>5 AND tx.height<3", "tx.height>TIME 2013-05-03T14:45:00Z"],
  ...["tx.hash='<TX>'", "tm.event='Tx'", "tm.event EXISTS", "message.action='/cosmos.bank.v1beta1.MsgSend'"],
  ...["message.action CONTAINS 'MsgSend'", "message.sender='<ACCOUNT>'", "transfer.amount='3aaa'"],
  ...["transfer.amount CONTAINS 'aaa'", "transfer.amount=3", "transfer.amount=''", "transfer.amount CONTAINS '4'"],
  ...["transfer.amount='3aaa' AND tx.height>=<H>", "transfer.amount='3aaa' AND transfer.amount='4aaa'"],
  ...["transfer.recipient='<ACCOUNT>' AND transfer.amount='2aaa'", "a.b=1", "a.b EXISTS", "a.b = DATE 2013-05-03"],
  ...["a.b=DATE 2013-13-03", "a.b=TIME nonsense", "a.b=x", "a.b", "=1", "AND", "a.b=1 AND", "a.b=1 and b.c=2"],
  ...["a.b\t=\n1", "a.b='1'AND b.c='2'", "(a.b=1)", "a.b==1", "a.b=>1", "a.b=1;", "a.b=.5", "a.b=1e3", "a.b=+1"],
  ...["a.b=0x10", "a.b=true", "a.b exists", "a.b CONTAINS 5", "a.b EXISTS 5", "a.b > 'x'", "a.b='", "a.b=''x"],
];
const PAGES = ["1", "2", "3", "0", "-1", "99", "x"];
const PER_PAGE = ["1", "2", "5", "100", "101", "0", "-1"];
const ORDERS = ["asc", "desc", "", "up"];

describe.skipIf(!(built instanceof Peer))("lists", () => {
  const fixture = new Fixture();
  let nodes: Asked[] = [];
  const words: Record<string, string>[] = [];

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    const { chain, ours, theirs } = await startBoth(built, fixture);
    nodes = [ours, theirs];
    const hashes = [await sendOurs(ours), [] as string[]] as const;
    for (const amount of [1, 2, 3, 4, 5]) {
      const { txhash } = await chain.svcTx("bank", "send", "alice", chain.address("alice"), `${amount}aaa`);
      hashes[1].push(txhash);
    }
    for (const [i, node] of nodes.entries()) {
      const [first = "", last = ""] = [hashes[i]?.[0], hashes[i]?.at(-1)];
      const answer = await (await fetch(`${node.rpc}/tx?hash=0x${first}`)).json();
      words.push({ H: (answer as { result: { height: string } }).result.height, TX: last });
    }
  });
  afterAll(() => fixture.close());

  /** The hashes of five transfers. */
  async function sendOurs({ rpc }: Asked): Promise<string[]> {
    const key = testKey("alice");
    const client = new ChainClient(rpc.replace("http:", "tcp:"));
    const hashes: string[] = [];
    for (const [i, amount] of ["1", "2", "3", "4", "5"].entries()) {
      const coins = [{ denom: "aaa", amount }];
      const send = create(MsgSendSchema, { fromAddress: key.address, toAddress: key.address, amount: coins });
      const tx = signTx("svc-test-1", [send], [{ key, accountNumber: 0n, sequence: BigInt(i) }]);
      await client.node.broadcast(tx, "sync");
      await waitFor(() => client.node.tx(txHash(tx)), "a transfer");
      hashes.push(txHash(tx));
    }
    client.close();
    return hashes;
  }

  /** The status, the rows, whether more follow, and the total. */
  async function page(node: Asked, path: string): Promise<readonly unknown[]> {
    const response = await fetch(`${node.rest}/cosmos/${filled(path, node)}`);
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) return [response.status, answer.code];
    const { next_key, total } = answer.pagination as { readonly next_key: string | null; readonly total: string };
    return [Object.values(answer).find(Array.isArray)?.length, next_key === null, total];
  }

  const asked = LISTS.flatMap((list) => LIMITS.map((limit) => ({ list, limit })));
  const choices = OFFSETS.flatMap((offset) =>
    SWITCHES.flatMap((count_total) => SWITCHES.map((reverse) => ({ offset, count_total, reverse }))),
  );
  test.each(asked)("$list has the same pages of $limit rows", async ({ list, limit }) => {
    for (const choice of sampled(choices, NTH)) {
      const given = Object.entries({ limit, ...choice }).filter(([, value]) => value !== undefined);
      const query = given.map(([name, value]) => `pagination.${name}=${value}`).join("&");
      const path = `${list}${list.includes("?") ? "&" : "?"}${query}`;
      const [mine, other] = await Promise.all(nodes.map((node) => page(node, path)));
      // Where an offset is behind the last row, we still tell how many there are.
      if (choice.offset === "4" && list.startsWith("staking") && mine?.[0] === 0) continue;
      expect([path, mine]).toEqual([path, other]);
    }
  });

  test.each(LISTS)("%s is read to its end by keys, in both directions", async (list) => {
    for (const reverse of [false, true]) {
      const counts = nodes.map(async (node) => {
        const seen: number[] = [];
        for (let key = ""; ; ) {
          const query = `pagination.limit=2&pagination.reverse=${reverse}&pagination.key=${encodeURIComponent(key)}`;
          const path = filled(`${list}${list.includes("?") ? "&" : "?"}${query}`, node);
          const answer = (await (await fetch(`${node.rest}/cosmos/${path}`)).json()) as Record<string, unknown>;
          seen.push(Object.values(answer).find(Array.isArray)?.length ?? 0);
          key = (answer.pagination as { readonly next_key: string | null }).next_key ?? "";
          if (key === "") return seen;
        }
      });
      const [mine, other] = await Promise.all(counts);
      expect(mine).toEqual(other);
    }
  });

  /** How many transactions are found in all, with the heights of the page as numbers of their blocks; or the refusal. */
  async function search(i: number, params: Record<string, string>): Promise<readonly unknown[]> {
    const node = nodes[i];
    if (node === undefined) return [];
    const texts = Object.entries(words[i] ?? {});
    const query = texts.reduce((text, [name, value]) => text.replaceAll(`<${name}>`, value), params.query ?? "");
    const call = { jsonrpc: "2.0", id: 1, method: "tx_search", params: { ...params, query: filled(query, node) } };
    const response = await fetch(node.rpc, { method: "POST", body: JSON.stringify(call) });
    const { result, error } = (await response.json()) as {
      readonly result?: { readonly total_count: string; readonly txs: readonly { readonly height: string }[] };
      readonly error?: { readonly code: number };
    };
    if (result === undefined) return ["refused", error?.code];
    const heights = result.txs.map(({ height }) => Number(height));
    const isRising = heights.every((height, at) => at === 0 || height > (heights[at - 1] ?? 0));
    return [result.total_count, heights.length, heights.length < 2 || isRising];
  }

  test.each(SEARCHES)("finds as many transactions: %s", async (query) => {
    const [mine, other] = [await search(0, { query }), await search(1, { query })];
    // The last digits of heights differ.
    if (query.startsWith("tx.height CONTAINS"))
      expect([mine[0], other[0]]).toEqual([expect.not.stringMatching("^0$"), expect.not.stringMatching("^0$")]);
    else expect(mine).toEqual(other);
  });

  test("has the same pages of transactions, in the same order", async () => {
    const pages = PAGES.flatMap((number) =>
      PER_PAGE.flatMap((per_page) => ORDERS.map((order_by) => ({ page: number, per_page, order_by }))),
    );
    for (const each of sampled(pages, NTH)) {
      const params = { query: "tx.height>0", ...each };
      const [mine, other] = [await search(0, params), await search(1, params)];
      expect([params, mine]).toEqual([params, other]);
    }
  });
});
