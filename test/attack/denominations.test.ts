import { create } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { Query as Bank } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { txHash } from "../../src/wire/index.ts";
import { freePorts } from "../support/ports.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { strangerAddress } from "./lib/large.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText, type Door } from "./lib/sockets.ts";

/** Names of 30 letters, so that a list of all is a large part of a transaction. */
const MANY = Array.from({ length: 2_000 }, (_, i) => `z${`${i}`.padStart(29, "0")}`);
/** As many as a fee has room for. */
const SOME = 800;
/** Longer than any refusal. */
const MAX_REFUSAL = 3_000;
const PAID = { gas: 30_000_000n, fee: [{ denom: NATIVE_DENOM, amount: 1_000n }] };

let node: AttackedNode;
let rest: Door;
let bank: Client<typeof Bank>;
beforeAll(async () => {
  const [port = 0, grpcPort = 0] = await freePorts(2);
  bank = createClient(Bank, createGrpcTransport({ baseUrl: `http://127.0.0.1:${grpcPort}` }));
  rest = { host: "127.0.0.1", port };
  const { address } = testKey("mallory");
  node = await AttackedNode.start({
    minGasPrices: "0.000001utoken",
    flags: [
      "--api.enable",
      "--api.address",
      `tcp://127.0.0.1:${port}`,
      "--grpc.address",
      `tcp://127.0.0.1:${grpcPort}`,
    ],
    editGenesis: ({ app_state }) => {
      const balances = Array.isArray(app_state.bank?.balances) ? app_state.bank.balances : [];
      const held = balances.find((each) => each.address === address);
      held.coins.push(...coins(MANY, "1000000"));
      app_state.bank = { ...app_state.bank, supply: [], balances };
    },
  });
});
afterAll(() => node?.close());

const coins = (denoms: readonly string[], amount = "1") => denoms.map((denom) => ({ denom, amount }));
const get = (path: string) => ask(rest, path, undefined, { kept: 1_000_000 });
const check = async (tx: Uint8Array) =>
  (await ask(node.door, "/", callText("check_tx", { tx: Buffer.from(tx).toString("base64") }))).text;

function send(denoms: readonly string[], amount = "1") {
  const fromAddress = node.key("mallory").address;
  return create(MsgSendSchema, { fromAddress, toAddress: strangerAddress(1), amount: coins(denoms, amount) });
}

/** From one account to two, half of each coin. */
function multiSend(denoms: readonly string[]) {
  const [whole, half] = [coins(denoms, "2"), coins(denoms, "1")];
  const inputs = [{ address: node.key("mallory").address, coins: whole }];
  const outputs = [2, 3].map((i) => ({ address: strangerAddress(i), coins: half }));
  return create(MsgMultiSendSchema, { inputs, outputs });
}

/** Gas of a message in a block. */
async function gasOf(message: ReturnType<typeof multiSend>): Promise<number> {
  const tx = node.sign("mallory", [message], PAID);
  await node.mustDeliver(tx);
  return Number((await node.client.node.tx(txHash(tx)))?.gasUsed);
}

it("all denominations go in one transfer, and are listed in pages", async () => {
  await node.mustSend("mallory", [send(MANY)], PAID);
  const path = `/cosmos/bank/v1beta1/balances/${strangerAddress(1)}`;
  const found = [];
  for (let offset = 0; offset < MANY.length; offset += 100) {
    const { text } = await get(`${path}?pagination.limit=100&pagination.offset=${offset}`);
    found.push(...JSON.parse(text).balances);
  }
  expect(found).toEqual(coins(MANY));
});

it("hundreds of denominations go from one to several, and pay for what they touch", async () => {
  const few = await gasOf(multiSend(MANY.slice(0, SOME / 8)));
  const many = await gasOf(multiSend(MANY.slice(0, SOME)));
  // Each denomination costs as much among many as among few.
  expect(many).toBeGreaterThan(4 * few);
  expect(many).toBeLessThan(8 * few);
});

it.each([
  ["a list in the wrong order", () => [send([...MANY].reverse())], {}, "not sorted by denomination"],
  [
    "a fee of many denominations",
    () => [send(["utoken"])],
    { fee: MANY.slice(0, SOME).map((denom) => ({ denom, amount: 1n })) },
    "insufficient fee",
  ],
])("refusals of %s do not repeat the whole list", async (_, messages, settings, reason) => {
  const text = await check(node.sign("mallory", messages(), { ...PAID, ...settings }));
  node.unsign("mallory");
  expect(text).toContain(reason);
  expect(text.length).toBeLessThan(MAX_REFUSAL);
});

it("keep no block waiting, nor others", async () => {
  const { address } = node.key("mallory");
  const paths = [`balances/${address}`, `spendable_balances/${address}`, "supply"].flatMap((path) =>
    ["limit=0", "limit=1000000", "offset=1900", "limit=1000000&pagination.reverse=true"].map(
      (page) => `/cosmos/bank/v1beta1/${path}?pagination.${page}`,
    ),
  );
  await besiege(node, () => Promise.all(paths.map(get)));
});

/** The code of gRPC that a call is refused with; undefined when it is answered. */
async function refusal(call: Promise<unknown>): Promise<Code | undefined> {
  try {
    await call;
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

describe("over gRPC", () => {
  /** All coins of the receiver in pages, by the key of the next one. */
  async function paged(): Promise<unknown[]> {
    const found: unknown[] = [];
    let key = new Uint8Array();
    do {
      const page = await bank.allBalances({ address: strangerAddress(1), pagination: { key, limit: 300n } });
      found.push(...page.balances.map(({ denom, amount }) => ({ denom, amount })));
      key = Uint8Array.from(page.pagination?.nextKey ?? []);
    } while (key.length > 0);
    return found;
  }

  it("they are listed in pages, each is found, and a page too large is refused", async () => {
    expect(await paged()).toEqual(coins(MANY));
    const each = await Promise.all(
      MANY.slice(0, 200).map((denom) => bank.balance({ address: strangerAddress(1), denom })),
    );
    expect(each.map(({ balance }) => balance?.amount)).toEqual(each.map(() => "1"));
    const whole = { address: strangerAddress(1), pagination: { limit: 1_001n } };
    expect(await refusal(bank.allBalances(whole))).toBe(Code.InvalidArgument);
    expect((await bank.sendEnabled({ denoms: MANY })).sendEnabled).toEqual([]);
  });

  it("keep no block waiting, nor others who ask there", async () => {
    const { address } = node.key("mallory");
    const pages = [{}, { limit: 1_000n }, { offset: 1_900n }, { limit: 1_000n, reverse: true, countTotal: true }];
    const lists = pages.flatMap((pagination) => [
      () => bank.allBalances({ address, pagination }),
      () => bank.spendableBalances({ address, pagination }),
      () => bank.totalSupply({ pagination }),
    ]);
    const singles = MANY.slice(0, 300).map((denom) => () => bank.balance({ address, denom }));
    const asked = [...lists, ...singles, () => bank.sendEnabled({ denoms: MANY })];
    const askMore = async () => expect((await bank.params({}, { timeoutMs: 30_000 })).params).toBeDefined();
    let answered = 0;
    const attack = async () => {
      // A call too many at a time may be refused; none may fail otherwise.
      const codes = await Promise.all(asked.map((call) => refusal(call())));
      expect(codes.filter((code) => code !== undefined && code !== Code.ResourceExhausted)).toEqual([]);
      answered += codes.filter((code) => code === undefined).length;
    };
    await besiege(node, attack, { askMore });
    expect(answered).toBeGreaterThan(asked.length / 2);
  });
});
