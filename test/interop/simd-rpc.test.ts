import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGenesisValidator } from "../../src/node/index.ts";
import { signTx, testKey } from "../../src/testing/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress, txHash } from "../../src/wire/index.ts";
import { Fixture, startNode, waitFor } from "../support/index.ts";
import { freePorts } from "../support/ports.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type Asked, asked, CALLS, get, type Json, kinds, post, REFUSED, type Told, told } from "./rpc-asked.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** Every method of the engine's interface, asked of the reference engine and of the built node: same fields, same kinds, same refusals. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, answers are not compared: ${missing}`,
  () => expect(missing).toBe(""),
);

/** Intended differences of ours, and parts that belong to voting rounds or to this one chain. */
const KNOWN = new RegExp(
  [
    // The program reports its own version.
    "application_version",
    "engine: text",
    "response.version",
    // A single validator has no rounds; theirs changed parameters in its first blocks.
    "round_state",
    "consensus_param_updates",
    // Stores and their keys are others; a refused query does not repeat its key.
    "response.(?:key|value|proofOps)",
  ].join("|"),
);

/** Paths below `/cosmos` of missing records, or that cannot be queried. */
const NOT_THERE: readonly string[] = [
  `auth/v1beta1/accounts/${encodeAddress(new Uint8Array(20).fill(9))}`,
  `staking/v1beta1/validators/${encodeAddress(new Uint8Array(20).fill(9), "valoper")}`,
  "staking/v1beta1/historical_info/999999",
  "tx/v1beta1/txs/AB",
  "evidence/v1beta1/evidence/AB",
  "gov/v1/proposals/0",
  "base/tendermint/v1beta1/blocks/999999",
  "nothing/at/all",
];

describe.skipIf(!(built instanceof Peer))("methods of the engine", () => {
  const fixture = new Fixture();
  let chain: SimdChain;
  let api = "";
  let theirs: Asked;
  let ours: Asked;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    chain = await startSimdChain(built, { accounts: ["alice"], prefix: "svc" });
    const [port = 0] = await freePorts(1);
    api = `http://127.0.0.1:${port}`;
    const { txhash } = await chain.svcTx("bank", "send", "alice", chain.address("alice"), "5stake");
    theirs = await asked(chain.url, txhash);
    const key = testKey("alice");
    const coins = [{ denom: "utoken", amount: 10n ** 12n }];
    const node = await startNode(fixture, {
      flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`],
      accounts: [{ address: key.address, coins }],
      editHome: (home) =>
        addGenesisValidator(home, { operator: key.address, bonded: { denom: "utoken", amount: 10n ** 11n } }),
    });
    const send = create(MsgSendSchema, {
      fromAddress: key.address,
      toAddress: key.address,
      amount: [{ denom: "utoken", amount: "5" }],
    });
    const tx = signTx(node.chainId, [send], [{ key, accountNumber: 0n, sequence: 0n }]);
    const client = node.client();
    expect(await client.node.broadcast(tx, "sync")).toMatchObject({ code: 0 });
    await waitFor(() => client.node.tx(txHash(tx)), "the transaction");
    client.close();
    ours = await asked(
      node.address,
      Buffer.from(txHash(tx) as never, "hex")
        .toString("hex")
        .toUpperCase(),
    );
  });
  afterAll(async () => {
    await chain?.stop();
    await fixture.close();
  });

  /** Fields and kinds that only one of the answers has, except for the known ones. */
  function differences(mine: Told, other: Told): string[] {
    const [a, b] = [kinds(mine.body.result), kinds(other.body.result)];
    const missing = b.filter((each) => !a.includes(each)).map((each) => `without ${each}`);
    const more = a.filter((each) => !b.includes(each)).map((each) => `with ${each}`);
    return [...missing, ...more].filter((each) => !KNOWN.test(each));
  }

  /** One after the other: the reference node refuses a transaction that it is just being asked about. */
  const bothWays = async (node: Asked, path: string, method: string, params: object): Promise<[Told, Told]> => {
    return [await get(node, path), await post(node, method, params)];
  };

  const answers = async (method: string, query: string, params: object): Promise<Told[]> => {
    const path = `${method}${query === "" ? "" : `?${query}`}`;
    return (await Promise.all([ours, theirs].map((node) => bothWays(node, path, method, params)))).flat();
  };

  test.each(CALLS)("%s?%s is answered with the same fields", async (method, query, params) => {
    const [inQuery, byName, theirQuery, theirName] = await answers(method, query, params);
    if (inQuery === undefined || byName === undefined || theirQuery === undefined || theirName === undefined) return;
    for (const [mine, other] of [
      [inQuery, theirQuery],
      [byName, theirName],
    ] as const) {
      expect({ status: mine.status, error: mine.body.error }).toEqual({ status: 200, error: undefined });
      expect(other.status).toBe(200);
      expect(differences(mine, other)).toEqual([]);
    }
  });

  test.each(NOT_THERE)("%s is refused by REST with the same words", async (path) => {
    const [mine, other] = await Promise.all(
      [api, chain.api].map(async (at) => told(await fetch(`${at}/cosmos/${path}`))),
    );
    expect(mine).toEqual(other);
  });

  test("REST describes the node and remembers blocks with the same fields", async () => {
    const height = Number(ours.height);
    await waitFor(async () => (await chain.height()) > height, "as many blocks");
    const paths = ["base/tendermint/v1beta1/node_info", `staking/v1beta1/historical_info/${height}`];
    for (const path of paths) {
      const [mine = [], other = []] = await Promise.all(
        [api, chain.api].map(async (at) => kinds((await told(await fetch(`${at}/cosmos/${path}`))).body as Json)),
      );
      // Their validator has a description, and their build a version of Go and sums.
      const known = /description|build_deps\[\]\.(?:path|sum)/;
      expect(other.filter((each) => !mine.includes(each) && !known.test(each))).toEqual([]);
    }
  });

  test.each(REFUSED)("%s?%s is refused alike", async (method, query, params) => {
    const [inQuery, byName, theirQuery, theirName] = await answers(method, query, params);
    const codes = (each: Told | undefined) => [each?.status, each?.body.error?.code, each?.body.error?.message];
    expect(codes(inQuery)).toEqual(codes(theirQuery));
    expect(codes(byName)).toEqual(codes(theirName));
  });
});
