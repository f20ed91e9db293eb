import { expect, it } from "vitest";
import { changes } from "../../test/support/changes.ts";
import { nodeConfig } from "./config.ts";
import { NODE_SETTINGS, type NodeSettingName } from "./settings.ts";

const BASE = { "api.enable": "true", "instrumentation.prometheus": "true", pruning: "custom" };

/**
 * A value of each setting other than the default, and the option that it changes: a limit passed to the wrong place is
 * no limit.
 */
const GIVEN: Readonly<Record<NodeSettingName, readonly [text: string, ...places: string[]]>> = {
  moniker: ["one", "moniker"],
  "block-interval": ["7s", "blockInterval"],
  engine: ["cometbft", "engine.kind"],
  follow: ["a.example:7", "engine.follow"],
  cometbft: ["/opt/cometbft", "engine.program"],
  "with-cometbft": ["false", "engine.isChild"],
  proxy_app: ["unix:///run/abci.sock", "engine.abci", "engine.abci.path"],
  "cometbft-rpc": ["tcp://127.0.0.1:7", "engine.rpc", "engine.rpc.host", "engine.rpc.port"],
  "p2p.laddr": ["tcp://127.0.0.7:7", "engine.p2p.laddr"],
  "p2p.external-address": ["a.example:7", "engine.p2p.externalAddress"],
  "p2p.persistent_peers": ["a@b:7", "engine.p2p.persistentPeers"],
  "p2p.seeds": ["a@b:7", "engine.p2p.seeds"],
  "p2p.private_peer_ids": ["a", "engine.p2p.privatePeerIds"],
  "p2p.pex": ["false", "engine.p2p.pex"],
  priv_validator_laddr: ["tcp://127.0.0.7:7", "engine.signerLaddr"],
  "double-sign-check-height": ["7", "engine.doubleSignCheckHeight"],
  "state-sync.rpc-servers": ["https://a.example,b.example:7", "engine.stateSync.rpcServers."],
  "state-sync.trust-height": ["7", "engine.stateSync.trustHeight"],
  "state-sync.trust-hash": ["7".repeat(64), "engine.stateSync.trustHash"],
  "state-sync.trust-period": ["7s", "engine.stateSync.trustPeriodMs"],
  "minimum-gas-prices": ["7utoken", "minGasPrices."],
  "halt-height": ["7", "haltHeight"],
  "unsafe-skip-upgrades": ["7", "skippedUpgrades."],
  pruning: ["everything", "pruning.keepRecent"],
  "pruning-keep-recent": ["77", "pruning.keepRecent"],
  "pruning-interval": ["77", "pruning.interval"],
  "min-retain-blocks": ["7", "minRetainBlocks"],
  "state-sync.snapshot-interval": ["7", "stateSync.snapshotInterval"],
  "state-sync.snapshot-keep-recent": ["7", "stateSync.snapshotKeepRecent"],
  "check-invariants": ["true", "checkInvariants"],
  "rpc.laddr": ["tcp://127.0.0.7:7", "rpc.host", "rpc.port"],
  "rpc.cors-allowed-origins": ["https://a.example", "rpc.corsOrigins."],
  "rpc.allowed-hosts": ["a.example", "grpc.hosts.", "metrics.hosts.", "rest.hosts.", "rpc.hosts."],
  "trusted-proxies": ["10.0.0.7", "clients.trustedProxies."],
  "max-requests-per-second": ["7", "clients.requestsPerSecond"],
  "rpc.max-body-bytes": ["7", "rpc.maxBodyBytes"],
  "rpc.max-request-batch-size": ["7", "rpc.maxBatch"],
  "rpc.max-open-connections": ["7", "rpc.maxOpenConnections"],
  "rpc.max-subscription-clients": ["7", "rpc.maxSubscriptionClients"],
  "rpc.max-subscriptions-per-client": ["7", "rpc.maxSubscriptionsPerClient"],
  "api.enable": ["false", "rest"],
  "api.address": ["tcp://127.0.0.7:7", "rest.host", "rest.port"],
  "api.enabled-unsafe-cors": ["true", "grpc.corsOrigins.", "rest.corsOrigins."],
  "api.cors-allowed-origins": ["https://a.example", "grpc.corsOrigins.", "rest.corsOrigins."],
  "api.max-open-connections": ["7", "rest.maxOpenConnections"],
  "api.rpc-max-body-bytes": ["7", "rest.maxBodyBytes"],
  console: ["false", "rest.console"],
  "grpc.enable": ["false", "grpc"],
  "grpc.address": ["tcp://127.0.0.7:7", "grpc.host", "grpc.port"],
  "grpc.max-recv-msg-size": ["7", "grpc.maxMessageBytes"],
  "grpc.max-open-connections": ["7", "grpc.maxOpenConnections"],
  "instrumentation.prometheus": ["false", "metrics"],
  "instrumentation.prometheus-listen-addr": ["tcp://127.0.0.7:7", "metrics.host", "metrics.port"],
  net: ["https://b.example", "net"],
  "mempool.size": ["7", "mempool.maxTxs"],
  "mempool.max-txs-bytes": ["7", "mempool.maxBytes"],
  "mempool.max-tx-bytes": ["7", "mempool.maxTxBytes"],
  "mempool.max-txs-per-sender": ["7", "mempool.maxTxsPerSender"],
  "mempool.max-bytes-per-sender": ["7", "mempool.maxBytesPerSender"],
  "mempool.cache-size": ["7", "mempool.cacheSize"],
};

it.each(Object.entries(GIVEN))("--%s given other than by default goes to its own place", (name, [text, ...places]) => {
  const found = changes(nodeConfig(BASE), nodeConfig({ ...BASE, [name]: text }));
  const whole = ["rest", "grpc", "metrics"].find((each) => places.includes(each));
  if (whole === undefined) expect(found).toEqual(places);
  else expect(found.every((path) => path.split(".")[0] === whole) && found.length > 0, found.join()).toBe(true);
});

it("has a value for every setting", () => {
  expect(Object.keys(GIVEN)).toEqual(Object.values(NODE_SETTINGS).map(({ name }) => name));
});
