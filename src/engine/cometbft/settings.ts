import { join } from "node:path";

/** Settings of CometBFT that its operators know. */
export interface CometSettings {
  /** Milliseconds from a block to the next round. */
  readonly blockInterval: number;
  readonly moniker: string;
  readonly p2p: {
    readonly laddr: string;
    readonly externalAddress: string;
    readonly persistentPeers: string;
    readonly seeds: string;
    readonly privatePeerIds: string;
    readonly pex: boolean;
  };
  /** Where a remote signer connects; empty = the key of the home signs. */
  readonly signerLaddr: string;
  /** Blocks that are searched for own votes at start; 0 = none. */
  readonly doubleSignCheckHeight: number;
  readonly mempool: {
    readonly maxTxs: number;
    readonly maxBytes: number;
    readonly maxTxBytes: number;
    readonly cacheSize: number;
  };
}

/** Files of a home that the engine uses. */
export interface CometPaths {
  /** Directory of the engine. */
  readonly root: string;
  /** Directory of its blocks and its write-ahead log. */
  readonly data: string;
  readonly abciSocket: string;
  readonly rpcSocket: string;
  readonly configFile: string;
  readonly genesis: string;
  readonly nodeKey: string;
  readonly validatorKey: string;
  readonly validatorState: string;
}

export function cometPaths(
  home: string,
  files: Pick<CometPaths, "genesis" | "nodeKey" | "validatorKey" | "validatorState">,
): CometPaths {
  const root = join(home, "cometbft");
  return {
    ...files,
    root,
    data: join(root, "data"),
    abciSocket: join(root, "run", "abci.sock"),
    rpcSocket: join(root, "run", "rpc.sock"),
    configFile: join(root, "config", "config.toml"),
  };
}

/** Bytes of a request besides its transaction. */
const RPC_ROOM = 64 * 1024;

/** The text of the engine's `config.toml`; what is not here has the engine's default. */
export function cometConfig(settings: CometSettings, paths: CometPaths): string {
  const { p2p, mempool } = settings;
  const tables: readonly (readonly [name: string, values: Readonly<Record<string, string | number | boolean>>])[] = [
    [
      "",
      {
        proxy_app: `unix://${paths.abciSocket}`,
        moniker: settings.moniker,
        log_level: "error",
        genesis_file: paths.genesis,
        priv_validator_key_file: paths.validatorKey,
        priv_validator_state_file: paths.validatorState,
        priv_validator_laddr: settings.signerLaddr,
        node_key_file: paths.nodeKey,
      },
    ],
    ["rpc", { laddr: `unix://${paths.rpcSocket}`, max_body_bytes: 2 * mempool.maxTxBytes + RPC_ROOM }],
    [
      "p2p",
      {
        laddr: p2p.laddr,
        external_address: p2p.externalAddress,
        persistent_peers: p2p.persistentPeers,
        seeds: p2p.seeds,
        private_peer_ids: p2p.privatePeerIds,
        pex: p2p.pex,
      },
    ],
    [
      "mempool",
      {
        size: mempool.maxTxs,
        max_txs_bytes: mempool.maxBytes,
        max_tx_bytes: mempool.maxTxBytes,
        cache_size: mempool.cacheSize,
      },
    ],
    [
      "consensus",
      {
        timeout_commit: `${settings.blockInterval}ms`,
        double_sign_check_height: settings.doubleSignCheckHeight,
      },
    ],
    ["tx_index", { indexer: "null" }],
  ];
  const text = tables.map(([name, values]) => {
    const lines = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    return `${name === "" ? "" : `[${name}]\n`}${lines.join("\n")}\n`;
  });
  return `# svc start writes this file again at each start.\n${text.join("\n")}`;
}
