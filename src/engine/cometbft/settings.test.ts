import { expect, test } from "vitest";
import { BATCH_BYTES, BATCH_CALLS } from "./broadcasts.ts";
import { type CometKeys, cometConfig, cometPaths } from "./settings.ts";

const FILES = { genesis: "/g", nodeKey: "/n", validatorKey: "/v", validatorState: "/s" };

/** The lines of the engine's `config.toml`, each with the table above it. */
function linesWith(others: CometKeys, moniker = "m", signerLaddr = ""): string[] {
  const p2p = {
    laddr: "tcp://0.0.0.0:1",
    externalAddress: "",
    persistentPeers: 'a@"b',
    seeds: "",
    privatePeerIds: "",
    pex: false,
  };
  const mempool = { maxTxs: 1, maxBytes: 2, maxTxBytes: 3, cacheSize: 4 };
  const stateSync = { rpcServers: ["http://a", "http://b"], trustHeight: 7, trustHash: "AB", trustPeriodMs: 5_000 };
  const own = { stateSync, blockInterval: 250, moniker, signerLaddr, doubleSignCheckHeight: 9 };
  let table = "";
  const text = cometConfig({ ...own, p2p, mempool, others }, cometPaths("/home", FILES));
  return text.split("\n").map((line) => {
    table = /^\[(.*)\]$/.exec(line)?.[1] ?? table;
    return `${table} ${line}`;
  });
}

test("the engine's settings come from ours, and its RPC and index are not public", () => {
  const lines = linesWith({});
  for (const line of [
    'rpc laddr = "unix:///home/cometbft/run/rpc.sock"',
    'p2p persistent_peers = "a@\\"b"',
    "p2p pex = false",
    'consensus timeout_commit = "250ms"',
    "consensus double_sign_check_height = 9",
    'tx_index indexer = "null"',
    "statesync enable = true",
    'statesync rpc_servers = "http://a,http://b"',
    "statesync trust_height = 7",
    'statesync trust_hash = "AB"',
    'statesync trust_period = "5000ms"',
    'statesync temp_dir = "/home/cometbft/sync"',
    ' log_level = "error"',
  ])
    expect(lines).toContain(line);
});

test.each([
  ["Zürich-1", "Z?rich-1"],
  ["\n ", "?"],
  ["", "node"],
])("the moniker %j has a form that the engine takes", (moniker, expected) => {
  expect(linesWith({}, moniker)).toContain(` moniker = ${JSON.stringify(expected)}`);
});

test.each(["rpc.laddr", "RPC.Laddr", "log_format"])("the node's own key %s is refused in any spelling", (name) => {
  expect(() => linesWith({ [name]: "x" })).toThrow(name);
});

test("with a remote signer the program leaves the validator's files of the home alone", () => {
  expect(linesWith({})).toContain(' priv_validator_key_file = "/v"');
  const lines = linesWith({}, "m", "tcp://127.0.0.1:7");
  expect(lines).toContain(' priv_validator_laddr = "tcp://127.0.0.1:7"');
  expect(lines).toContain(' priv_validator_key_file = "/home/cometbft/data/spare_key.json"');
  expect(lines).toContain(' priv_validator_state_file = "/home/cometbft/data/spare_state.json"');
});

test("keys that svc has no setting for are passed on, above the tables and in them", () => {
  const lines = linesWith({
    log_level: "info",
    "p2p.max_num_inbound_peers": 7,
    "consensus.timeout_propose": "5s",
    "blocksync.version": "v0",
    "rpc.cors_allowed_origins": ["a", "b"],
  });
  for (const line of [
    ' log_level = "info"',
    "p2p max_num_inbound_peers = 7",
    'consensus timeout_propose = "5s"',
    'blocksync version = "v0"',
    'rpc cors_allowed_origins = ["a","b"]',
  ])
    expect(lines).toContain(line);
  expect(lines).not.toContain(' log_level = "error"');
});

test.each(["proxy_app", "rpc.laddr", "tx_index.indexer", "p2p.laddr"])("the key %s is the node's own", (name) => {
  expect(() => linesWith({ [name]: "x" })).toThrow(`${name}: svc start sets this key of CometBFT itself`);
});

test.each([{ log_level: "none" }, { Log_Level: "p2p:info,*:none" }])("%o would hide why the engine ends", (others) => {
  expect(() => linesWith(others)).toThrow("CometBFT without its log cannot say why it ends");
});

test("the engine takes a whole batch of transactions, however short each has to be", () => {
  const line = linesWith({}).find((each) => each.startsWith("rpc max_body_bytes = "));
  // In base64, each with its call around it.
  expect(Number(line?.split(" = ")[1])).toBeGreaterThan((BATCH_BYTES * 4) / 3 + BATCH_CALLS.child * 200);
});
