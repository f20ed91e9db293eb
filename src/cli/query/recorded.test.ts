import type { DescMethod } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runCli } from "../../../test/cli/run.ts";
import { NodeDouble, Refusal } from "../../../test/support/node-double.ts";
import recorded from "../../../test/vectors/cli-live-sdk042.json" with { type: "json" };
import rpc from "../../../test/vectors/rpc-live-tm034.json" with { type: "json" };
import { fromHex, toBase64, toHexUpper } from "../../util/index.ts";
import { Query as Auth } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as Distribution } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as Mint } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import { Query as Staking } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { decodeAddress, fromJson, type JsonValue } from "../../wire/index.ts";

/**
 * Queries of the reference tool on its chain. A node answers our queries with the data of the recorded output; ours
 * print the same.
 */

interface Recorded {
  readonly args: readonly string[];
  readonly rc: number;
  readonly stdout: string;
  readonly stderr: string;
}
type Fields = Readonly<Record<string, JsonValue>>;

const queries = (recorded as readonly Recorded[]).filter(({ args }) => args[0] === "query");
const isJson = ({ args, stdout }: Recorded): boolean => args.includes("json") || stdout.startsWith("{");
const outputOf = (entry: Recorded): JsonValue => (isJson(entry) ? JSON.parse(entry.stdout) : parse(entry.stdout));

let node = new NodeDouble();
afterAll(() => node.stop());
beforeEach(async () => {
  await node.stop();
  node = new NodeDouble();
  await node.start();
  node.methods.status = () => rpcResult("/status");
});

function rpcResult(path: string): JsonValue {
  const found = rpc.find(({ http }) => http.endsWith(path));
  return JSON.parse(found?.response ?? "null").result;
}

function run({ args }: Recorded) {
  const json = args[1] === "block" || args.includes("-o") ? [] : ["-o", "text"];
  return runCli([...args, ...json, "--profile", "cosmos", "--node", node.address]);
}

/** The rpc that a query of state calls, and the field of its answer that is printed, if only one is. */
const STATE: readonly (readonly [words: string, method: DescMethod, field?: string])[] = [
  ["bank balances * --denom", Bank.method.balance, "balance"],
  ["bank balances", Bank.method.allBalances],
  ["bank total", Bank.method.totalSupply],
  ["account", Auth.method.account, "account"],
  ["mint inflation", Mint.method.inflation, "inflation"],
  ["staking validators", Staking.method.validators],
  ["staking params", Staking.method.params, "params"],
  ["distribution rewards * cosmosvaloper", Distribution.method.delegationRewards],
  ["distribution rewards", Distribution.method.delegationTotalRewards],
];

function stateOf({ args }: Recorded) {
  const line = args.slice(1).join(" ");
  return STATE.find(([words]) => new RegExp(`^${words.replace(" * ", " \\S+ ")}`).test(line));
}

/** The rewards of one validator are documented as a plain list; the reference prints it in an object. */
function asOurs({ args, stdout }: Recorded): string {
  if (!args.join(" ").includes("rewards cosmos1") || args[4]?.startsWith("cosmosvaloper") !== true) return stdout;
  return stdout.trim().replace(/^rewards: |^{"rewards":(.*)}$/, "$1");
}

const ofState = queries.filter((entry) => entry.rc === 0 && stateOf(entry) !== undefined);

describe("queries of state", () => {
  test.each(ofState.map((entry) => [entry.args.slice(1).join(" "), entry] as const))("%s", async (_, entry) => {
    const [, method, field] = stateOf(entry) ?? [];
    if (method === undefined) throw new Error("no rpc");
    const output = field === "inflation" ? entry.stdout.trim() : outputOf(entry);
    const json = field === undefined ? output : { [field]: output };
    node.answerQuery(method, () => fromJson(method.output, json));
    const { code, out, err } = await run(entry);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    // Later releases page the supply, and have more fields in validators and parameters.
    const newer =
      /^pagination: null\n|,"unbonding_on_hold_ref_count":"0","unbonding_ids":\[\]|^min_commission_rate: "0\.0+"\n/m;
    expect(out.replace(newer, "").trimEnd()).toBe(asOurs(entry).trimEnd());
  });

  test("a page that is named twice", async () => {
    const entry = queries.find(({ args }) => args.includes("--offset"));
    if (entry === undefined) throw new Error("nothing recorded");
    expect(entry.stderr).toContain("page and offset cannot be used together");
    const { code, err } = await run(entry);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("--page and --offset cannot be used together"),
    });
  });
});

/** A transaction as a node of the era returns it, rebuilt from the tool's output. */
function rpcTx(json: Fields): JsonValue {
  const { tx, txhash, height, timestamp, data, raw_log, gas_wanted, gas_used, code, codespace, info, events } = json;
  const bytes = fromJson(AnySchema, tx ?? null).value;
  const result = { code, codespace, info, gas_wanted, gas_used, log: raw_log, events: events ?? [] };
  times.set(String(height), String(timestamp));
  const hex = Uint8Array.from(fromHex(String(data)));
  return {
    hash: txhash ?? "",
    height: height ?? "",
    index: 0,
    tx_result: { ...result, data: toBase64(hex) },
    tx: toBase64(bytes),
  } as JsonValue;
}

const times = new Map<string, string>();

function blockAt(height: string): JsonValue {
  const answer = JSON.parse(JSON.stringify(rpcResult("/block?height=2")));
  Object.assign(answer.block.header, { height, time: times.get(height) });
  return answer;
}

/** The same with events in plain text, as engines of today have them: releases of the era print base64. */
function plain(json: Fields): JsonValue {
  const text = (value: unknown): string => Buffer.from(String(value), "base64").toString("utf8");
  const attributes = (list: readonly Fields[]) =>
    list.map(({ key, value, index }) => ({ key: text(key), value: text(value), index: index ?? false }));
  const events = (json.events as readonly { type: string; attributes: readonly Fields[] }[]) ?? [];
  return { ...json, events: events.map((event) => ({ ...event, attributes: attributes(event.attributes) })) };
}

describe("queries of transactions and blocks", () => {
  const find = (...words: readonly string[]): Recorded => {
    const entry = queries.find(({ args }) => words.every((word, i) => args[i + 1] === word || args.includes(word)));
    if (entry === undefined) throw new Error(`nothing recorded of ${words.join(" ")}`);
    return entry;
  };
  const inJson = (entry: Recorded) =>
    run({ ...entry, args: [...entry.args.filter((word) => word !== "-o" && word !== "json"), "-o", "json"] });
  beforeEach(() => {
    node.methods.block = ({ height }) => blockAt(String(height));
  });

  test("tx: the transaction with its time, as JSON and as text", async () => {
    const entry = find("tx", "-o");
    const output = outputOf(entry) as Fields;
    node.methods.tx = () => rpcTx(output);
    const { out } = await run(entry);
    expect(JSON.parse(out)).toEqual(plain(output));
    expect(Object.keys(JSON.parse(out))).toEqual(Object.keys(output));
    const text = queries.find(({ args }) => args[1] === "tx" && !args.includes("-o"));
    expect(parse((await runCli([...(text?.args ?? []), "--profile", "cosmos", "--node", node.address])).out)).toEqual(
      JSON.parse(out),
    );
  });

  test("tx: one that does not exist", async () => {
    const entry = queries.find(({ args, rc }) => args[1] === "tx" && rc !== 0);
    if (entry === undefined) throw new Error("nothing recorded");
    const words = /Internal error: (.*)/.exec(entry.stderr)?.[1] ?? "";
    node.methods.tx = () => {
      throw new Refusal(words);
    };
    const { code, err } = await run(entry);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("not found") });
  });

  test("txs: a page with its numbers", async () => {
    const entry = find("txs");
    const output = outputOf(entry) as Fields & { readonly txs: readonly Fields[] };
    node.methods.tx_search = (params) => {
      expect(params).toMatchObject({ query: "message.action='send'", page: "1", per_page: "2" });
      return { txs: output.txs.map(rpcTx), total_count: output.total_count };
    };
    const { out } = await inJson(entry);
    expect(JSON.parse(out)).toEqual({ ...output, txs: output.txs.map(plain) });
  });

  test("block: as the node gives it", async () => {
    const entry = find("block", "2");
    node.methods.block = ({ height }) => rpcResult(`/block?height=${String(height)}`);
    const { code, out } = await run(entry);
    expect(code).toBe(0);
    // The tool reads the block and prints an empty list as null.
    expect(out.replaceAll("[]", "null")).toBe(`${entry.stdout.trimEnd()}\n`);
  });

  test("tendermint-validator-set: with addresses in the form of the chain", async () => {
    const entry = find("tendermint-validator-set");
    const output = outputOf(entry) as Fields & { readonly validators: readonly Fields[] };
    const validators = output.validators.map((each) => {
      return { ...each, address: toHexUpper(decodeAddress(String(each.address), "valcons", "cosmos")) };
    });
    node.methods.validators = () => ({ ...output, validators });
    const { out } = await run(entry);
    expect(out.trimEnd()).toBe(entry.stdout.trimEnd());
  });
});

test("all that was recorded is here", () => {
  const here = queries.filter((entry) => !ofState.includes(entry) && entry.rc === 0).map(({ args }) => args[1]);
  expect(new Set(here)).toEqual(new Set(["tx", "txs", "block", "tendermint-validator-set"]));
});
