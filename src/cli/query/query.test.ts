import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { cliChain } from "../../../test/cli/chain.ts";
import { formatGoDuration } from "./modules/blocks-remaining.ts";

const chain = await cliChain("alice", "bob", "carol");
const { alice = "", bob = "" } = chain.addresses;
afterAll(() => chain.stop());

let hash = "";
let height = "";
beforeAll(async () => {
  ({ txhash: hash, height } = await chain.tx("bank", "send", "alice", bob, "5utoken"));
  await chain.tx("bank", "send", "alice", bob, "6utoken");
});

describe("query bank balances", () => {
  test("asks the node of --node", async () => {
    const { code, err } = await chain.run(["query", "bank", "balances", alice, "--node", "tcp://127.0.0.1:1"]);
    expect(code).toBe(1);
    expect(err).toContain("cannot reach the node at http://127.0.0.1:1");
  });

  const balances = ["query", "bank", "balances", bob];

  test("prints YAML by default, with keys in alphabetical order", async () => {
    expect(await chain.run(["q", "bank", "balances", bob, "--denom", "stake"])).toEqual({
      code: 0,
      out: 'amount: "5000"\ndenom: stake\n',
      err: "",
    });
    const { out } = await chain.run(balances);
    expect(out).toBe(
      'balances:\n- amount: "5000"\n  denom: stake\n- amount: "1000000000011"\n  denom: utoken\npagination:\n  next_key: null\n  total: "0"\n',
    );
  });

  test("prints one line of JSON, in the order of the fields", async () => {
    const { out } = await chain.run([...balances, "-o", "json"]);
    expect(out).toBe(
      '{"balances":[{"denom":"stake","amount":"5000"},{"denom":"utoken","amount":"1000000000011"}],"pagination":{"next_key":null,"total":"0"}}\n',
    );
  });

  test("turns pages by number, offset and key, as printed", async () => {
    const page = async (...flags: string[]) => chain.query("bank", "balances", bob, "--limit", "1", ...flags);
    const first = await page("--count-total");
    expect(first.balances.map(({ denom }: { denom: string }) => denom)).toEqual(["stake"]);
    expect(first.pagination.total).toBe("2");
    const second = await page("--page", "2");
    expect(second.balances[0].denom).toBe("utoken");
    expect(await page("--offset", "1")).toEqual(second);
    expect(await page("--page-key", first.pagination.next_key)).toEqual(second);
    expect((await page("--reverse")).balances).toEqual(second.balances);
    expect((await chain.query("bank", "balances", bob, "--limit", "0")).balances).toHaveLength(2);
  });

  test("the flags of pages have the names of newer tools as well", async () => {
    const page = (...flags: string[]) => chain.query("bank", "balances", bob, ...flags);
    const newer = ["--page-limit", "1", "--page-offset", "1", "--page-reverse", "--page-count-total"];
    const ours = await page("--limit", "1", "--offset", "1", "--reverse", "--count-total");
    expect(ours).toMatchObject({ balances: [{ denom: "stake" }], pagination: { total: "2" } });
    expect(await page(...newer)).toEqual(ours);
    // These flags may come before the words of the command, as every flag may.
    const early = await chain.run([...newer, "--log_no_color", "query", "bank", "balances", bob, "-o", "json"]);
    expect(JSON.parse(early.out)).toEqual(ours);
  });

  test("asks another height", async () => {
    const future = await chain.run([...balances, "--height", "1000000"]);
    expect(future).toMatchObject({ code: 1, out: "" });
    expect(future.err).toContain("cannot query with height in the future");
    expect(future.err).toContain("Hint: leave out --height for the latest state");
    // The block after genesis, without transactions.
    expect((await chain.run([...balances, "--height", "1"])).code).toBe(0);
    await vi.waitFor(async () => {
      const { latest_block_height } = JSON.parse((await chain.run(["status"])).out).sync_info;
      expect((await chain.run([...balances, "--height", latest_block_height])).code).toBe(0);
    }, 30_000);
  });

  test.each([
    ["page and offset", ["--page", "2", "--offset", "1"], "--page and --offset cannot be used together"],
    ["key and page", ["--page", "2", "--page-key", "a"], "--page-key cannot be used together with --page or --offset"],
    ["page 0", ["--page", "0"], "--page: pages are counted from 1"],
    ["a huge page", ["--limit", "1001"], "a page has at most 1000 rows"],
    ["no number", ["--limit", "many"], '--limit takes a whole number, not "many"'],
    ["a negative number", ["--offset", "-1"], '--offset takes a whole number, not "-1"'],
    ["a wrong height", ["--height", "x"], '--height takes a whole number, not "x"'],
    ["a wrong denomination", ["--denom", "1x"], '--denom: "1x" is not a denomination'],
    ["a wrong format", ["-o", "xml"], '--output takes text, json, not "xml"'],
    ["a wrong node", ["--node", "ftp://x"], "invalid node address"],
  ])("refuses %s", async (_, flags, text) => {
    const { code, out, err } = await chain.run([...balances, ...flags]);
    expect(out).toBe("");
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(text);
  });

  test("refuses what is not an address, and says why", async () => {
    const wrong = `${alice.slice(0, -1)}${alice.endsWith("q") ? "p" : "q"}`;
    const { code, err } = await chain.run(["query", "bank", "balances", wrong]);
    expect(code).toBe(2);
    expect(err).toContain("<address>: decoding bech32 failed");
    expect(err).toContain("checksum");
  });
});

describe("query tx, txs, block, account", () => {
  test("a transaction by its hash, in either case", async () => {
    const found = await chain.query("tx", hash);
    expect(found).toMatchObject({ txhash: hash, height, code: 0 });
    expect(await chain.query("tx", `0x${hash.toLowerCase()}`)).toEqual(found);
    const { out } = await chain.run(["query", "tx", hash]);
    expect(out).toContain("\n  '@type': /sdk.tx.v1beta1.Tx\n");
  });

  test.each([
    ["zz", 2, "not a transaction hash of 64 hex digits"],
    ["A".repeat(64), 1, "not found"],
  ])("no transaction %s", async (text, exit, expected) => {
    const { code, out, err } = await chain.run(["query", "tx", text]);
    expect({ code, out }).toEqual({ code: exit, out: "" });
    expect(err).toContain(expected);
  });

  test("a transaction by its sender's sequence or by its signature", async () => {
    const found = await chain.query("tx", hash);
    expect(await chain.query("tx", "--type", "acc_seq", `${alice}/0`)).toEqual(found);
    expect(await chain.query("tx", "--type", "signature", found.tx.signatures[0])).toEqual(found);
    const { code, err } = await chain.run(["query", "tx", "--type", "acc_seq", `${alice}/999`]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("not found") });
  });

  test("a transaction as soon as it is in a block, or not", async () => {
    const sent = await chain.run([
      "tx",
      "bank",
      "send",
      "carol",
      alice,
      "1utoken",
      "-y",
      "-b",
      "async",
      "--fees",
      "5000utoken",
    ]);
    const { txhash } = JSON.parse(sent.out);
    expect(await chain.query("wait-tx", txhash)).toMatchObject({ txhash, code: 0 });
    const { code, err } = await chain.run(["query", "wait-tx", "A".repeat(64), "--timeout", "1ms"]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("was not in a block after 0.001 s") });
  });

  test("a block by its hash", async () => {
    const block = await chain.query("block", height);
    expect(await chain.query("block", "--type", "hash", block.block_id.hash)).toEqual(block);
    expect(await chain.query("block", "--type", "hash", block.block_id.hash.toLowerCase())).toEqual(block);
  });

  test("the supply and the units of one denomination or of all", async () => {
    // Every block makes new coins.
    const then = ["--height", height];
    const supply = await chain.query("bank", "total", ...then);
    const one = await chain.query("bank", "total", "--denom", "utoken", ...then);
    expect(supply.supply).toContainEqual(one);
    expect(await chain.query("bank", "total-supply-of", "utoken", ...then)).toEqual(one);
    const missing = await chain.run(["query", "bank", "denom-metadata", "stake"]);
    expect(missing).toEqual({ code: 1, out: "", err: expect.stringContaining("metadata stake") });
    expect(await chain.run(["query", "bank", "denom-metadata", "--denom", "stake"])).toEqual(missing);
    expect((await chain.query("bank", "denom-metadata")).metadatas).toMatchObject([
      { base: "utoken", symbol: "TOKEN" },
    ]);
    expect(await chain.query("bank", "balance", bob, "stake")).toEqual({ denom: "stake", amount: "5000" });
  });

  test("the validators of a block", async () => {
    const found = await chain.query("comet-validator-set", height);
    expect(found).toMatchObject({ block_height: height, validators: [{ voting_power: "10" }] });
    expect(found.validators[0].address).toMatch(/^svcvalcons1/);
    expect(await chain.query("tendermint-validator-set", height)).toEqual(found);
  });

  test("transactions by their events, in pages", async () => {
    const events = `message.action=send&transfer.recipient=${bob}`;
    const found = await chain.query("txs", "--events", events, "--limit", "1");
    expect(found).toMatchObject({ total_count: "2", count: "1", page_number: "1", page_total: "2", limit: "1" });
    expect(found.txs[0].txhash).toBe(hash);
    const last = await chain.query("txs", "--events", events, "--limit", "1", "--order-by", "desc");
    expect(last.txs[0].txhash).not.toBe(hash);
    expect((await chain.query("txs", "--query", `tx.height=${height}`)).txs).toHaveLength(1);
    expect((await chain.query("txs", "--events", "message.action=none")).txs).toEqual([]);
  });

  test.each([
    [[], "required flag --events"],
    [["--events", "nonsense"], "write <type>.<attribute>=<value>"],
    [["--events", "a.b=c", "--limit", "101"], "at most 100 transactions"],
  ])("refuses %j", async (flags, text) => {
    const { code, err } = await chain.run(["query", "txs", ...flags]);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(text);
  });

  test("a block by its height, and the latest", async () => {
    const { out } = await chain.run(["query", "block", height]);
    const block = JSON.parse(out).block;
    expect(block.header).toMatchObject({ height, chain_id: "cli-test-1" });
    expect(block.data.txs).toHaveLength(1);
    const latest = JSON.parse((await chain.run(["query", "block"])).out);
    expect(Number(latest.block.header.height)).toBeGreaterThanOrEqual(Number(height));
    expect((await chain.run(["query", "block", "x"])).err).toContain("<height>");
    expect((await chain.run(["query", "block", "99999999"])).code).toBe(1);
  });

  test("the results of a block by its height, and the latest", async () => {
    const results = JSON.parse((await chain.run(["query", "block-results", height])).out);
    expect(results.height).toBe(height);
    expect(results.txs_results).toMatchObject([{ code: 0, gas_wanted: "200000" }]);
    expect(JSON.stringify(results.txs_results[0].events)).toContain("transfer");
    const latest = JSON.parse((await chain.run(["query", "block-results"])).out);
    expect(Number(latest.height)).toBeGreaterThanOrEqual(Number(height));
    expect((await chain.run(["query", "block-results", "0"])).err).toContain('<height>: "0" is not a height');
    expect((await chain.run(["query", "block-results", "99999999"])).code).toBe(1);
  });

  test("a range of blocks, in the order of their heights", async () => {
    await vi.waitUntil(async () => BigInt((await chain.query("blocks")).last_height) > 24n, { timeout: 30_000 });
    const heights = async (...words: string[]): Promise<string[]> =>
      (await chain.query("blocks", ...words)).block_metas.map(
        (meta: { header: { height: string } }) => meta.header.height,
      );
    expect(await heights("2", "24")).toEqual(Array.from({ length: 23 }, (_, i) => String(i + 2)));
    expect(await heights("3", "3")).toEqual(["3"]);
    const last = await heights();
    expect(last).toHaveLength(20);
    expect(last).toEqual(last.toSorted((a, b) => Number(a) - Number(b)));
    const found = await chain.query("blocks", "--query", "block.height=3");
    expect(found.blocks.map((each: { block: { header: { height: string } } }) => each.block.header.height)).toEqual([
      "3",
    ]);
    const { code, err } = await chain.run(["query", "blocks", "99999999"]);
    expect(code).toBe(1);
    expect(err).toContain("<from>: there is no block 99999999 yet");
  });

  test("an account, in the short and in the long form", async () => {
    const account = await chain.query("account", alice);
    expect(account).toMatchObject({ "@type": "/sdk.auth.v1beta1.BaseAccount", address: alice, sequence: "2" });
    expect(await chain.query("auth", "account", alice)).toEqual(account);
    const { code, err } = await chain.run(["query", "account", "svc1qyqszqgpqyqszqgpqyqszqgpqyqszqgp9tl3jp"]);
    expect(code).toBeGreaterThan(0);
    expect(err).toMatch(/^Error: /);
  });

  test("status is printed as the node gives it", async () => {
    const { code, out } = await chain.run(["status"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ node_info: { network: "cli-test-1" }, sync_info: { catching_up: false } });
  });
});

describe("generated queries", () => {
  test.each([
    [["bank", "total"], "supply"],
    [["bank", "spendable-balances", alice], "balances"],
    [["bank", "params"], "default_send_enabled"],
    [["auth", "params"], "max_memo_characters"],
    [["auth", "accounts"], "accounts"],
    [["provider", "list"], "providers"],
    [["cert", "list"], "certificates"],
    [["audit", "list"], "providers"],
    [["deployment", "list", "--owner", alice, "--state", "active"], "deployments"],
    [["deployment", "params"], "min_deposits"],
    [["market", "order", "list", "--state", "open"], "orders"],
    [["market", "bid", "list", "--provider", alice], "bids"],
    [["market", "lease", "list", "--gseq", "1"], "leases"],
    [["market", "params"], "bid_min_deposits"],
    [["escrow", "accounts"], "accounts"],
    [["escrow", "payments"], "payments"],
    [["escrow", "params"], "low_balance_blocks"],
  ])("%j", async (words, member) => {
    expect(Object.keys(await chain.query(...words))).toContain(member);
    expect((await chain.run(["query", ...words])).out).toContain(member);
  });

  test("print the bare amount of one denomination", async () => {
    expect(await chain.query("bank", "supply-of", "stake")).toEqual({ denom: "stake", amount: "15000" });
  });

  test.each([
    [["provider", "get", alice], 1, "register it with"],
    [["provider", "get", "x"], 2, "<owner>: invalid Bech32 prefix"],
    [["deployment", "get", "--owner", alice], 2, "required flag --dseq is not set (or SVC_DSEQ)"],
    [["deployment", "get", "--owner", alice, "--dseq", "1"], 1, "deployment not found"],
    [["deployment", "get", `group/${alice}/1/1`], 2, "write deployment/<owner>/<dseq>"],
    [["market", "order", "get", "--owner", alice, "--dseq", "1", "--gseq", "0"], 2, "--gseq: 0 is not a valid number"],
    [
      ["market", "order", "list", "--dseq", "18446744073709551616"],
      2,
      "not a whole number from 0 to 18446744073709551615",
    ],
    [["market", "lease", "list", "--state", "sleeping"], 2, "sleeping"],
    [["market", "lease", "get", "--owner", alice, "--dseq", "1"], 2, "required flag --provider"],
    [["market", "ordr", "list"], 2, 'did you mean "order"?'],
    [["escrow", "blocks-remaining", "--owner", alice], 2, "required flag --dseq"],
    [["escrow", "blocks-remaining", "x"], 2, "write deployment/<owner>/<dseq>"],
    [["audit", "get", alice, "x"], 2, "<auditor>"],
  ])("%j is refused", async (words, code, text) => {
    const ran = await chain.run(["query", ...words]);
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toMatch(/^Error: /);
    expect(ran.err).toContain(text);
  });

  test("flags of ids come from the environment", async () => {
    const { err } = await chain.run(["query", "deployment", "get"], { env: { SVC_OWNER: alice, SVC_DSEQ: "7" } });
    expect(err).toContain(`${alice}/7`);
  });
});

test.each([
  [0n, "0s"],
  [59n, "59s"],
  [61n, "1m1s"],
  [3600n, "1h0m0s"],
  [360_005n, "100h0m5s"],
])("%d seconds are %s", (seconds, text) => expect(formatGoDuration(seconds)).toBe(text));
