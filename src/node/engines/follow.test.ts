import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { freePorts } from "../../../test/support/ports.ts";
import { sized } from "../../../test/support/runs.ts";
import { ChainClient } from "../../client/index.ts";
import { type LogFields, type Logger, silentLogger, toHex } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { type GivenSettings, nodeConfig } from "../config.ts";
import { addGenesisAccounts } from "../home/genesis.ts";
import { homePaths } from "../home/home.ts";
import { initHome } from "../home/init.ts";
import { rollback } from "../home/rollback.ts";
import { type Node, startNode } from "../node.ts";

const BLOCKS = sized(60, 10_000);
const PATIENCE_MS = sized(60_000, 600_000);
const ALICE = encodeAddress(new Uint8Array(20).fill(1));
const nodes: Node[] = [];
const proxies: Server[] = [];
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-follow-"));
  initHome({ home: home("leader"), moniker: "leader", chainId: "svc-follow-1" });
  addGenesisAccounts(home("leader"), [{ address: ALICE, coins: [{ denom: "utoken", amount: 5n }] }]);
});

afterEach(async () => {
  for (const node of nodes.splice(0).reverse()) await node.stop();
  for (const proxy of proxies.splice(0)) {
    proxy.closeAllConnections();
    proxy.close();
  }
  rmSync(folder, { recursive: true });
});

const home = (name: string) => join(folder, name);
const same = (text: string): string => text;

async function start(name: string, given: GivenSettings = {}, logger: Logger = silentLogger): Promise<Node> {
  const config = nodeConfig({ "rpc.laddr": "tcp://127.0.0.1:0", "grpc.enable": "false", ...given });
  const node = await startNode({ home: home(name), config, logger, version: "v9.9.9" });
  nodes.push(node);
  return node;
}

/** A chain that makes blocks when it is told to. */
async function leader(blocks: number): Promise<Node> {
  const node = await start("leader", { "block-interval": "60m" });
  await vi.waitUntil(() => node.engine.blocks.height > 0n, 30_000);
  for (let i = 1; i < blocks; i++) node.engine.produceBlock();
  return node;
}

/** A home with the genesis file of the leader, and a key of its own. */
function followerHome(name = "follower"): void {
  initHome({ home: home(name), moniker: name, chainId: "svc-follow-1" });
  copyFileSync(homePaths(home("leader")).genesis, homePaths(home(name)).genesis);
}

function follow(address: string, given: GivenSettings = {}, logger?: Logger): Promise<Node> {
  return start("follower", { follow: address, ...given }, logger);
}

/** The follower has the height. */
async function reached(node: Node, height: bigint): Promise<void> {
  await vi.waitUntil(() => node.engine.blocks.height >= height, { timeout: PATIENCE_MS, interval: 20 });
  expect(node.engine.blocks.height).toBe(height);
}

/** A value as text, whatever class its bytes are of. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === "bigint") return `${value}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

function dump(node: Node): unknown[] {
  const { blocks, index } = node.engine;
  return Array.from({ length: Number(blocks.height) }, (_, i) => {
    const height = BigInt(i + 1);
    const record = blocks.record(height);
    const hash = record?.commit.blockId.hash ?? new Uint8Array(0);
    return plain([
      record,
      blocks.block(height),
      blocks.validators(height),
      blocks.txs(height),
      index.blockHeight(hash),
    ]);
  });
}

/** A node between leader and follower, which changes the texts of answers and requests; `undefined` leaves a request unanswered. */
async function between(
  leader: Node,
  change: (text: string) => string,
  ask: (text: string) => string | undefined = same,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", async () => {
      const headers = { "content-type": "application/json" };
      const asked = ask(body);
      if (asked === undefined) return;
      const answer = await fetch(leader.rpcUrl, { method: "POST", body: asked, headers }).catch(() => undefined);
      if (answer === undefined) response.destroy();
      else response.setHeader("content-type", "application/json").end(change(await answer.text()));
    });
  });
  return await listening(server);
}

async function listening(server: Server): Promise<string> {
  proxies.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

describe("a node that follows another", () => {
  it(`has the same ${BLOCKS} blocks and state, new ones too, and goes on after a restart`, {
    timeout: 2 * PATIENCE_MS,
  }, async () => {
    const chain = await leader(BLOCKS);
    followerHome();
    const node = await follow(chain.rpcUrl);
    await reached(node, chain.engine.blocks.height);
    expect(dump(node)).toEqual(dump(chain));
    chain.engine.produceBlock();
    await reached(node, chain.engine.blocks.height);
    await node.stop();
    // A block that another version executed is executed again.
    rollback(home("follower"), { hard: false });
    chain.engine.produceBlock();
    const again = await follow(chain.rpcUrl);
    await reached(again, chain.engine.blocks.height);
    expect(plain(again.chain.app.info())).toEqual(plain(chain.chain.app.info()));
    const client = new ChainClient(again.rpcUrl);
    expect((await client.node.status()).latestHeight).toBe(chain.engine.blocks.height);
    client.close();
  });

  const lies: readonly (readonly [what: string, change: (text: string) => string])[] = [
    ["another app hash", (text) => changed(text, /"app_hash":"([0-9A-F]{64})/)],
    [
      "another transaction",
      (text) => text.replaceAll('"txs":[]', '"txs":["AAAA"]').replaceAll('"txs":null', '"txs":["AAAA"]'),
    ],
    ["another time", (text) => text.replaceAll(/"time":"20/g, '"time":"19')],
    ["another signature", (text) => changed(text, /"signature":"([A-Za-z0-9+/]{20})/)],
    ["another chain", (text) => text.replaceAll("svc-follow-1", "svc-follow-2")],
    ["no votes", (text) => text.replaceAll(/"block_id_flag":2/g, '"block_id_flag":1')],
    ["the block of another height", (text) => text.replaceAll('"height":"2"', '"height":"3"')],
    ["no JSON", (text) => text.slice(1)],
    ["nothing", () => ""],
  ];

  it.each(lies)("believes no answer with %s, and continues with the truth", async (_, change) => {
    const chain = await leader(3);
    followerHome();
    let isLying = true;
    const address = await between(chain, (text) => (isLying ? change(text) : text));
    const told: string[] = [];
    const warn = (text: string) => void told.push(text);
    const node = await follow(address, {}, { ...silentLogger, child: () => ({ ...silentLogger, warn }) });
    await vi.waitUntil(() => told.length > 0, { timeout: 30_000, interval: 20 });
    expect(node.engine.blocks.height).toBeLessThan(3n);
    isLying = false;
    await reached(node, 3n);
    expect(dump(node)).toEqual(dump(chain));
  });

  it("has blocks that are larger than the answers of a batch may be", async () => {
    const chain = await leader(2);
    const txs = Array.from({ length: 9 }, (_, i) => new Uint8Array(1 << 20).fill(i));
    const proposed = vi.spyOn(chain.engine.app, "prepareProposal").mockReturnValue(txs);
    const accepted = vi.spyOn(chain.engine.app, "processProposal").mockReturnValue(true);
    for (let i = 0; i < 2; i++) chain.engine.produceBlock();
    proposed.mockRestore();
    accepted.mockRestore();
    chain.engine.produceBlock();
    followerHome();
    const told: string[] = [];
    const warn = (text: string) => void told.push(text);
    const node = await follow(chain.rpcUrl, {}, { ...silentLogger, child: () => ({ ...silentLogger, warn }) });
    await vi.waitUntil(() => told.length > 0 || node.engine.blocks.height === 5n, { timeout: 30_000, interval: 20 });
    expect([told, node.engine.blocks.height]).toEqual([[], 5n]);
    expect(plain(node.engine.blocks.last)).toEqual(plain(chain.engine.blocks.last));
  });

  it("has new blocks while the other node leaves many transactions unanswered", async () => {
    const chain = await leader(2);
    followerHome();
    let unanswered = 0;
    const address = await between(chain, same, (body) => {
      if (!body.includes("broadcast_tx")) return body;
      unanswered += 1;
      return undefined;
    });
    const node = await follow(address);
    await reached(node, 2n);
    let ended = 0;
    const noteEnd = (): void => {
      ended += 1;
    };
    for (let i = 0; i < 40; i++) {
      const call = {
        jsonrpc: "2.0",
        id: i,
        method: "broadcast_tx_sync",
        params: { tx: Buffer.of(i).toString("base64") },
      };
      fetch(node.rpcUrl, { method: "POST", body: JSON.stringify(call) }).then(noteEnd, noteEnd);
    }
    await vi.waitUntil(() => unanswered >= 32, { timeout: 30_000, interval: 20 });
    chain.engine.produceBlock();
    await reached(node, 3n);
    expect(ended).toBe(0);
  });

  it("reads an endless answer no further than a block may reach", async () => {
    await leader(1);
    followerHome();
    let answering: ServerResponse | undefined;
    const server = createServer((_, response) => {
      answering = response;
      const more = (): void => {
        while (response.write("{},".repeat(1 << 16)));
        response.once("drain", more);
      };
      more();
    });
    const faults: unknown[] = [];
    const warn = (_: string, { error }: LogFields = {}) => void faults.push(error);
    await follow(await listening(server), {}, { ...silentLogger, child: () => ({ ...silentLogger, warn }) });
    await vi.waitUntil(() => faults.length > 0, { timeout: 30_000, interval: 20 });
    expect(faults[0]).toMatchObject({ codespace: "client", code: 4 });
    expect(answering?.socket?.bytesWritten ?? Number.POSITIVE_INFINITY).toBeLessThan(64 << 20);
  });

  it.each([
    ["first", 0],
    ["next", 2],
  ])("goes on after true blocks of later heights instead of the %s one", async (_, blocks) => {
    const chain = await leader(5);
    followerHome();
    const told: string[] = [];
    const warn = (text: string) => void told.push(text);
    let isLying = true;
    const later = (text: string) =>
      text.replaceAll(/"height":"(\d+)"/g, (asked, height) =>
        isLying && Number(height) > blocks ? `"height":"${Number(height) + 1}"` : asked,
      );
    const address = await between(chain, same, later);
    const node = await follow(address, {}, { ...silentLogger, child: () => ({ ...silentLogger, warn }) });
    await vi.waitUntil(() => told.length > 0 || node.engine.hasEnded, { timeout: 30_000, interval: 20 });
    expect([node.engine.hasEnded, node.engine.blocks.height]).toEqual([false, BigInt(blocks)]);
    isLying = false;
    await reached(node, 5n);
    expect(dump(node)).toEqual(dump(chain));
  });

  it("ends where the chain has another state than follows from its genesis file", async () => {
    const chain = await leader(3);
    followerHome();
    const path = homePaths(home("follower")).genesis;
    writeFileSync(path, readFileSync(path, "utf8").replaceAll('"5"', '"6"'));
    const node = await follow(chain.rpcUrl);
    expect((await node.ended).error).toMatchObject({ codespace: "engine", code: 17 });
    expect(node.engine.blocks.height).toBe(0n);
  });

  it("is not ended by a node that says it no longer has the next block: it tells so, and asks again", async () => {
    const chain = await leader(3);
    followerHome();
    const pruned = { code: -32603, message: "Internal error", data: "height 1 is not available, lowest height is 3" };
    let isLying = true;
    const address = await between(chain, (text) => {
      if (!isLying) return text;
      const answers: readonly { readonly id: number }[] = JSON.parse(text);
      return JSON.stringify(answers.map(({ id }) => ({ jsonrpc: "2.0", id, error: pruned })));
    });
    const faults: unknown[] = [];
    const warn = (_: string, { error }: LogFields = {}) => void faults.push(error);
    const node = await follow(address, {}, { ...silentLogger, child: () => ({ ...silentLogger, warn }) });
    await vi.waitUntil(() => faults.length > 1, { timeout: 30_000, interval: 20 });
    expect(faults[0]).toMatchObject({ codespace: "client", code: 7 });
    isLying = false;
    await reached(node, 3n);
    expect(dump(node)).toEqual(dump(chain));
  });

  it("follows a follower, and answers where both follow each other: a transaction goes round once", async () => {
    const chain = await leader(3);
    const [first = 0, second = 0] = await freePorts(2);
    const names = new Map([
      ["a", first],
      ["b", second],
    ]);
    const place = (name: string) => `tcp://127.0.0.1:${names.get(name)}`;
    for (const name of names.keys()) followerHome(name);
    const run = (name: string, address: string) => start(name, { "rpc.laddr": place(name), follow: address });
    const [a, b] = [await run("a", chain.rpcUrl), await run("b", place("a"))];
    await reached(b, 3n);
    await a.stop();
    const again = await run("a", place("b"));
    const client = new ChainClient(again.rpcUrl);
    await expect(client.node.broadcast(Uint8Array.of(1), "sync")).rejects.toMatchObject({
      data: "tx already exists in cache",
    });
    client.close();
    expect([again, b].map(({ engine }) => [engine.hasEnded, engine.blocks.height])).toEqual([
      [false, 3n],
      [false, 3n],
    ]);
  });

  it("ends at its halt height", async () => {
    const chain = await leader(3);
    followerHome();
    const halted = await follow(chain.rpcUrl, { "halt-height": "2" });
    expect(await halted.ended).toEqual({ error: undefined });
    expect(halted.engine.blocks.height).toBe(2n);
    await halted.stop();
    expect(await (await follow(chain.rpcUrl, { "halt-height": "2" })).ended).toEqual({ error: undefined });
  });

  it("follows a chain of several validators not at all", async () => {
    followerHome();
    initHome({ home: home("other"), moniker: "other", chainId: "svc-follow-1" });
    const path = homePaths(home("follower")).genesis;
    const genesis = JSON.parse(readFileSync(path, "utf8"));
    const other = JSON.parse(readFileSync(join(home("other"), "config", "genesis.json"), "utf8"));
    writeFileSync(path, JSON.stringify({ ...genesis, validators: [...genesis.validators, ...other.validators] }));
    await expect(follow("http://127.0.0.1:1")).rejects.toMatchObject({ codespace: "engine", code: 18 });
    await expect(follow("http://127.0.0.1:1", { engine: "cometbft" })).rejects.toMatchObject({
      codespace: "node",
      code: 27,
    });
  });
});

/** The text with another digit in each place that a pattern finds. */
function changed(text: string, pattern: RegExp): string {
  return text.replaceAll(
    new RegExp(pattern, "g"),
    (found) => `${found.slice(0, -1)}${found.endsWith("A") ? "B" : "A"}`,
  );
}
