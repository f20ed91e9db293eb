import { coins, DirectSecp256k1Wallet } from "@cosmjs/proto-signing";
import { SigningStargateClient, StargateClient } from "@cosmjs/stargate";
import { Comet38Client, connectComet, WebsocketClient } from "@cosmjs/tendermint-rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGenesisValidator } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { encodeAddress } from "../../src/wire/index.ts";
import { Fixture, freePorts, startNode, type TestNode, waitFor } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";
import { REST_PATHS } from "./rest-paths.ts";
import {
  type Asked,
  asked,
  blockHash,
  CALLS,
  get,
  type Json,
  kinds,
  post,
  REFUSED,
  type Told,
  told,
} from "./rpc-asked.ts";

/** The same clients on both engines: their answers have the same fields, kinds and refusals, and those about state are equal. */

const [comet, simd] = [await buildPeer("cometbft"), await buildPeer("simd53")];
const CHAIN_ID = "svc-engines-1";
const [ALICE, BOB] = [testKey("alice"), testKey("bob")];
const FEE = { amount: coins(5_000, "utoken"), gas: "200000" };

/** Answers about state that both chains have alike. */
const EQUAL =
  /^state |^(?:auth|bank)\/v1beta1\/(?:accounts|balances|spendable)|^\w+\/v1(?:beta1)?\/(?:params|grants|allowances|proposals)/;

/** A node with a transaction, and where its interfaces are. */
interface Served extends Asked {
  readonly node: TestNode;
  readonly rest: string;
  readonly grpc: string;
}

type Answers = Readonly<Record<string, Json>>;

describe.skipIf(!(comet instanceof Peer && simd instanceof Peer))("clients of both engines", () => {
  const fixtures = [new Fixture(), new Fixture()] as const;
  let [embedded, network]: Served[] = [];

  beforeAll(async () => {
    if (!(comet instanceof Peer)) return;
    const [p2p] = await freePorts(1);
    embedded = await serve(fixtures[0], []);
    network = await serve(fixtures[1], [
      "--engine",
      "cometbft",
      "--cometbft",
      comet.binary,
      "--p2p.laddr",
      `tcp://127.0.0.1:${p2p}`,
    ]);
  });

  afterAll(async () => {
    for (const fixture of fixtures) await fixture.close();
    for (const peer of [comet, simd]) if (peer instanceof Peer) peer.remove();
  });

  async function serve(fixture: Fixture, engine: readonly string[]): Promise<Served> {
    const [rest, grpc] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
    const bonded = { denom: "utoken", amount: 10n ** 11n };
    const node = await startNode(fixture, {
      chainId: CHAIN_ID,
      accounts: [{ address: ALICE.address, coins: [{ denom: "utoken", amount: 10n ** 12n }] }],
      editHome: (home) => addGenesisValidator(home, { operator: ALICE.address, bonded }),
      flags: [...engine, "--api.enable", "--api.address", `tcp://${rest}`, "--grpc.address", String(grpc)],
    });
    const wallet = await DirectSecp256k1Wallet.fromKey(ALICE.privateKey, "svc");
    const url = node.address.replace("tcp:", "http:");
    const client = await SigningStargateClient.connectWithSigner(url, wallet, { broadcastPollIntervalMs: 100 });
    const { code, transactionHash } = await client.sendTokens(ALICE.address, BOB.address, coins(7, "utoken"), FEE);
    client.disconnect();
    expect(code).toBe(0);
    return { ...(await asked(url, transactionHash)), node, rest: `http://${rest}`, grpc: String(grpc) };
  }

  /** The answer of a moment without a proposal: a round of the network's engine has one until its block is there. */
  function betweenProposals(ask: () => Promise<Told>): Promise<Told> {
    return waitFor(async () => {
      const answer = await ask();
      return /"proposal":\{/.test(JSON.stringify(answer.body)) ? undefined : answer;
    }, "a round without a proposal");
  }

  /** Fields and kinds that only one of the engines answers with. */
  async function differences(answersOf: (served: Served) => Promise<Answers>): Promise<string[]> {
    if (embedded === undefined || network === undefined) throw new Error("two nodes");
    const [one, other] = [await answersOf(embedded), await answersOf(network)];
    expect(Object.keys(one)).toEqual(Object.keys(other));
    return Object.keys(one).flatMap((name) => {
      if (EQUAL.test(name)) expect(one[name], name).toEqual(other[name]);
      const [ours, theirs] = [kinds(one[name]), kinds(other[name])];
      const only = [...ours.filter((each) => !theirs.includes(each)), ...theirs.filter((each) => !ours.includes(each))];
      return only.map((each) => `${name}: ${each}`);
    });
  }

  test("JSON-RPC answers and refuses alike", async () => {
    const all = async (served: Served): Promise<Answers> => {
      const answers: Record<string, Json> = {};
      for (const [method, query, params] of [...CALLS, ...REFUSED]) {
        const told = {
          query: await betweenProposals(() => get(served, `${method}?${query}`)),
          body: await betweenProposals(() => post(served, method, params)),
        };
        // Transactions that the mempool has seen differ by the time between the two calls.
        for (const [way, { status, body }] of Object.entries(told))
          answers[`${method}?${query} by ${way}`] = {
            status,
            code: body.error?.code ?? null,
            result: body.result ?? null,
          };
      }
      return answers;
    };
    expect(await differences(all)).toEqual([]);
  });

  test("REST answers alike, and equally about state", async () => {
    const validator = encodeAddress(ALICE.bytes, "valoper");
    const fill = (path: string, { height }: Served) =>
      path.replace("{a}", ALICE.address).replace("{v}", validator).replace("{h}", height);
    const all = async (served: Served): Promise<Answers> => {
      const answers = REST_PATHS.map(async (path): Promise<[string, Json]> => {
        const { status, body } = await told(await fetch(`${served.rest}/cosmos/${fill(path, served)}`));
        return [path, { status, body: body as Json }];
      });
      return Object.fromEntries(await Promise.all(answers));
    };
    expect(await differences(all)).toEqual([]);
  });

  test("CosmJS of today and of releases 0.32 and 0.34 reads, searches and subscribes alike", async () => {
    const all = async ({ url, tx, height }: Served): Promise<Answers> => {
      const client = await connectComet(url);
      const at = Number(height);
      const answers: Record<string, unknown> = {
        status: await client.status(),
        block: await client.block(at),
        commit: await client.commit(at),
        results: await client.blockResults(at),
        validators: await client.validatorsAll(at),
        found: await client.txSearch({ query: `transfer.recipient='${BOB.address}'` }),
        event: await nextHeader(url),
      };
      client.disconnect();
      for (const [name, connect] of [
        ["today", StargateClient.connect],
        ["0.32", (await olderClient("cosmjs-stargate-032")).connect],
        ["0.34", (await olderClient("cosmjs-stargate-034")).connect],
      ] as const) {
        const stargate = await connect(url);
        answers[`state ${name}`] = [
          await stargate.getAllBalances(BOB.address),
          await stargate.getAccount(ALICE.address),
        ];
        answers[`tx ${name}`] = await stargate.getTx(tx);
        stargate.disconnect();
      }
      return JSON.parse(JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? `${value}` : value)));
    };
    expect(await differences(all)).toEqual([]);
  });

  test("the reference's Go client reads over RPC and gRPC alike", async () => {
    if (!(simd instanceof Peer)) return;
    const all = async ({ node, tx, height, grpc }: Served): Promise<Answers> => {
      const ask = async (...words: string[]) => JSON.parse(await simd.ok([...words, "-o", "json"], { prefix: "svc" }));
      const overRpc = ["--node", node.address];
      return {
        status: await ask("status", ...overRpc),
        tx: await ask("query", "tx", tx, ...overRpc),
        block: await ask("query", "block", "--type", "height", height, ...overRpc),
        search: await ask("query", "txs", "--query", `transfer.recipient='${BOB.address}'`, ...overRpc),
        "state by RPC": await ask("query", "bank", "balances", BOB.address, ...overRpc),
        "state by gRPC": await ask("query", "auth", "account", ALICE.address, "--grpc-addr", grpc, "--grpc-insecure"),
      };
    };
    expect(await differences(all)).toEqual([]);
  });

  test("cometbft light verifies the chain, and passes the same answers on", async () => {
    if (!(comet instanceof Peer)) return;
    const all = async (served: Served): Promise<Answers> => {
      const [port] = await freePorts(1);
      const trusted = ["--height", "1", "--hash", await blockHash(served.url, "1")];
      const places = ["--primary", served.url, "--witnesses", served.url, "--laddr", `tcp://127.0.0.1:${port}`];
      const home = ["--home-dir", fixtures[0].tempHome(`light-${port}`)];
      const light = comet.start(["light", CHAIN_ID, ...places, ...trusted, ...home]);
      try {
        const proxy = { ...served, url: `http://127.0.0.1:${port}` };
        const answer = async (path: string) => (await get(proxy, path)).body.result ?? null;
        await waitFor(async () => (light.ended() ? "ended" : await answer("health")), "the light client");
        const answers: Record<string, Json> = {};
        for (const path of ["commit?height=<H>", "validators?height=<H>"]) {
          answers[path] = await answer(path);
          expect(answers[path], `${path}: ${light.output()}`).toEqual((await get(served, path)).body.result);
        }
        // The light client writes an empty list as null, or leaves it out.
        for (const path of ["block?height=<H>", "tx?hash=0x<TX>&prove=true"]) answers[path] = await answer(path);
        return answers;
      } finally {
        light.process.kill("SIGKILL");
      }
    };
    expect(await differences(all)).toEqual([]);
  });
});

/** The next header that a subscription brings. */
async function nextHeader(url: string): Promise<unknown> {
  const client = Comet38Client.create(new WebsocketClient(url.replace("http", "ws")));
  const header = await new Promise((resolve, reject) => {
    client.subscribeNewBlockHeader().addListener({ next: resolve, error: reject });
  });
  client.disconnect();
  return header;
}

/** The client of an earlier release, installed under its own name; for its used parts, today's types apply. */
async function olderClient(name: string): Promise<Pick<typeof StargateClient, "connect">> {
  return (await import(name)).StargateClient;
}
