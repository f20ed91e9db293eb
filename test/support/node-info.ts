import type { NodeInfo } from "../../src/node/node-info.ts";

/** A test node's facts about itself. */
export const TEST_NODE_INFO: NodeInfo = {
  id: "ab",
  moniker: "kv",
  rpcAddress: "tcp://127.0.0.1:1",
  listenAddress: "tcp://127.0.0.1:1",
  applicationVersion: "v1",
  minGasPrices: [],
  haltHeight: 0n,
  pruning: { keepRecent: 100n, interval: 10n },
};
