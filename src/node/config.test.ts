import { describe, expect, it } from "vitest";
import type { SettingSource } from "../util/index.ts";
import { nodeConfig, readNodeConfig } from "./config.ts";
import { NODE_SETTINGS } from "./settings.ts";

describe("the settings of a node", () => {
  it("name a strategy of pruning, or its numbers", () => {
    const custom = { "pruning-keep-recent": "2", "pruning-interval": "10" };
    const pruning = (strategy: string) => nodeConfig({ pruning: strategy, ...custom }).pruning;
    expect(pruning("everything")).toEqual({ keepRecent: 2n, interval: 10n });
    expect(pruning("nothing").keepRecent).toBe(0n);
    expect(pruning("default").keepRecent).toBe(362_880n);
    expect(pruning("custom")).toEqual({ keepRecent: 2n, interval: 10n });
    expect(nodeConfig({ pruning: "custom", "pruning-keep-recent": "0" }).pruning.keepRecent).toBe(0n);
  });

  it("have defaults", () => {
    expect(nodeConfig({})).toEqual({
      clients: { trustedProxies: [], requestsPerSecond: 500 },
      moniker: undefined,
      blockInterval: 6000,
      engine: {
        kind: "embedded",
        others: {},
        follow: undefined,
        program: undefined,
        isChild: true,
        abci: undefined,
        rpc: undefined,
        p2p: {
          laddr: "tcp://0.0.0.0:26656",
          externalAddress: "",
          persistentPeers: "",
          seeds: "",
          privatePeerIds: "",
          pex: true,
        },
        signerLaddr: "",
        doubleSignCheckHeight: 0,
        stateSync: { rpcServers: [], trustHeight: 0, trustHash: "", trustPeriodMs: 1_209_600_000 },
      },
      minGasPrices: [{ denom: "utoken", amount: 2_500_000_000_000_000n }],
      haltHeight: 0n,
      skippedUpgrades: [],
      checkInvariants: false,
      pruning: { keepRecent: 362_880n, interval: 10n },
      minRetainBlocks: 0n,
      stateSync: { snapshotInterval: 0n, snapshotKeepRecent: 2 },
      rpc: {
        host: "127.0.0.1",
        port: 26657,
        corsOrigins: [],
        hosts: [],
        maxBodyBytes: 1_000_000,
        maxBatch: 20,
        maxOpenConnections: 900,
        maxSubscriptionClients: 100,
        maxSubscriptionsPerClient: 5,
      },
      mempool: {
        maxTxs: 50_000,
        maxBytes: 67_108_864,
        maxTxBytes: 1_048_576,
        maxTxsPerSender: 1000,
        maxBytesPerSender: 8_388_608,
        cacheSize: 100_000,
      },
      rest: undefined,
      metrics: undefined,
      net: undefined,
      grpc: {
        host: "127.0.0.1",
        port: 9090,
        corsOrigins: [],
        hosts: [],
        maxMessageBytes: 10_485_760,
        maxOpenConnections: 1000,
      },
    });
  });

  it("are all read by a node that has every server", () => {
    const read = new Set<string>();
    const readWith = (allSites: string): void => {
      const switches = new Map([["api.enabled-unsafe-cors", allSites]]);
      const text: SettingSource["text"] = ({ name, value, default: usual = "" }) => {
        read.add(name);
        return value === undefined ? (switches.get(name) ?? "true") : usual;
      };
      readNodeConfig({ text, label: ({ name }) => name, fault: (sentence) => new Error(sentence) });
    };
    readWith("true");
    readWith("false");
    const names = Object.values(NODE_SETTINGS).map(({ name }) => name);
    expect(names.filter((name) => !read.has(name))).toEqual([]);
  });

  it("are those that were given, an empty one too", () => {
    const config = nodeConfig({ "block-interval": "500ms", "minimum-gas-prices": "", "check-invariants": "true" });
    expect(config).toMatchObject({ blockInterval: 500, minGasPrices: [], checkInvariants: true });
  });

  it.each([
    ["block-interval", "1.5s", { blockInterval: 1500 }],
    ["block-interval", "1m", { blockInterval: 60_000 }],
    ["block-interval", "1m30s", { blockInterval: 90_000 }],
    ["rpc.laddr", "localhost:5", { rpc: { host: "127.0.0.1", port: 5 } }],
    ["rpc.laddr", "tcp://:5", { rpc: { host: "0.0.0.0", port: 5 } }],
    ["rpc.laddr", "tcp://[::1]:5", { rpc: { host: "::1", port: 5 } }],
    ["rpc.cors-allowed-origins", "https://a, https://b", { rpc: { corsOrigins: ["https://a", "https://b"] } }],
    ["rpc.cors-allowed-origins", "*", { rpc: { corsOrigins: ["*"] } }],
    [
      "rpc.cors-allowed-origins",
      "http://localhost:*,https://*.a.example",
      { rpc: { corsOrigins: ["http://localhost:*", "https://*.a.example"] } },
    ],
    [
      "rpc.cors-allowed-origins",
      "*.a.example,*://localhost:3000",
      { rpc: { corsOrigins: ["*.a.example", "*://localhost:3000"] } },
    ],
    [
      "api.cors-allowed-origins",
      "http://[::1]:3000,app://wallet,null",
      { grpc: { corsOrigins: ["http://[::1]:3000", "app://wallet", "null"] } },
    ],
    ["rpc.allowed-hosts", "Node-1, node.example,my_node", { rpc: { hosts: ["node-1", "node.example", "my_node"] } }],
    ["halt-height", "7", { haltHeight: 7n }],
    ["unsafe-skip-upgrades", "7, 1200", { skippedUpgrades: [7n, 1200n] }],
    ["min-retain-blocks", "0", { minRetainBlocks: 0n }],
    ["min-retain-blocks", "100", { minRetainBlocks: 100n }],
    ["state-sync.snapshot-interval", "1000", { stateSync: { snapshotInterval: 1000n, snapshotKeepRecent: 2 } }],
    ["state-sync.snapshot-keep-recent", "0", { stateSync: { snapshotInterval: 0n, snapshotKeepRecent: 0 } }],
  ] as const)("%s %s", (name, text, expected) => {
    expect(nodeConfig({ [name]: text })).toMatchObject(expected);
  });

  it.each([
    ["block-interval", "50ms", '--block-interval takes a time from 100ms to 60m, for example 6s or 500ms, not "50ms"'],
    ["block-interval", "6", "takes a time"],
    ["block-interval", "-1s", "takes a time"],
    ["rpc.laddr", "26657", '--rpc.laddr takes an address such as tcp://127.0.0.1:26657, not "26657"'],
    ["rpc.laddr", "tcp://a:99999", "takes an address"],
    [
      "rpc.cors-allowed-origins",
      "https://a,app.example",
      '--rpc.cors-allowed-origins takes origins such as https://app.example.com or http://localhost:*, not "app.example"',
    ],
    ["rpc.cors-allowed-origins", "https://a/", 'not "https://a/"'],
    ["rpc.cors-allowed-origins", "https://a b", 'not "https://a b"'],
    ["rpc.cors-allowed-origins", "https://App.example", 'not "https://App.example"'],
    ["rpc.cors-allowed-origins", "https://a:443", 'not "https://a:443"'],
    ["rpc.cors-allowed-origins", "https://*.a.*", 'not "https://*.a.*"'],
    ["api.cors-allowed-origins", "*.a.example/x", 'not "*.a.example/x"'],
    [
      "rpc.allowed-hosts",
      "a.example,https://b",
      '--rpc.allowed-hosts takes host names such as node.example.com, not "https://b"',
    ],
    ["rpc.allowed-hosts", "a.example:26657", 'not "a.example:26657"'],
    ["rpc.allowed-hosts", "*.example", 'not "*.example"'],
    ["minimum-gas-prices", "0.1utoken,0.2utoken", "utoken twice"],
    ["minimum-gas-prices", "cheap", "--minimum-gas-prices: invalid"],
    ["halt-height", "-1", "takes a whole number"],
    ["unsafe-skip-upgrades", "7,-1", "takes heights such as 1200"],
    ["mempool.size", "0", "takes a whole number from 1 to 1000000000"],
    ["check-invariants", "maybe", "takes true or false"],
    ["pruning", "some", "default, nothing, everything or custom"],
    ["pruning-keep-recent", "1", "0, or a whole number from 2"],
    ["pruning-interval", "9", "a whole number from 10"],
    ["min-retain-blocks", "-1", "takes a whole number"],
    ["state-sync.snapshot-interval", "often", "takes a whole number"],
    ["state-sync.snapshot-keep-recent", "1000000001", "a whole number up to 1000000000"],
  ] as const)("refuse %s %s", (name, text, error) => {
    expect(() => nodeConfig({ [name]: text })).toThrow(error);
  });
});
