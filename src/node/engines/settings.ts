import type { CometKeys, CometSettings, EnginePlace, StateSyncSettings } from "../../engine/index.ts";
import {
  asCount,
  asDuration,
  asList,
  asSwitch,
  asText,
  oneOf,
  optional,
  type ReadSetting,
  type SettingTable,
  WrongForm,
} from "../../util/index.ts";

/** Settings of the engine. */
export const ENGINE_SETTINGS = {
  engine: {
    name: "engine",
    value: "<name>",
    summary: "engine that makes the blocks: embedded, for one validator; or cometbft, which runs beside the node",
    default: "embedded",
    parse: oneOf(["embedded", "cometbft"]).parse,
  },
  follow: {
    name: "follow",
    value: "<address>",
    summary: "node of a chain of one validator whose blocks are executed here; none are made, transactions go to it",
    parse: optional(asText),
  },
  cometbft: {
    name: "cometbft",
    value: "<path>",
    summary: "program of CometBFT (default: that of PATH, or the one of svc engine install)",
    parse: optional(asText),
  },
  withCometbft: {
    name: "with-cometbft",
    value: "<true|false>",
    summary: "with cometbft: run its program; false serves ABCI alone, for one that you run yourself",
    default: "true",
    parse: asSwitch,
  },
  proxyApp: {
    name: "proxy_app",
    value: "<address>",
    summary: "without its program: where CometBFT connects (default: unix:// and cometbft/run/abci.sock of the home)",
    parse: optional(parsePlace),
  },
  cometbftRpc: {
    name: "cometbft-rpc",
    value: "<address>",
    summary: "without its program: CometBFT's rpc.laddr (default: unix:// and cometbft/run/rpc.sock of the home)",
    parse: optional(parsePlace),
  },
  p2pLaddr: {
    name: "p2p.laddr",
    value: "<address>",
    summary: "with cometbft: where other nodes connect",
    default: "tcp://0.0.0.0:26656",
    parse: asText,
  },
  p2pExternalAddress: {
    name: "p2p.external-address",
    value: "<address>",
    summary: "with cometbft: address at which other nodes reach this one, host:port",
    parse: asText,
  },
  p2pPersistentPeers: {
    name: "p2p.persistent_peers",
    value: "<peers>",
    summary: "with cometbft: nodes to stay connected to, id@host:port, separated by commas",
    parse: asText,
  },
  p2pSeeds: {
    name: "p2p.seeds",
    value: "<peers>",
    summary: "with cometbft: nodes to ask for others, id@host:port, separated by commas",
    parse: asText,
  },
  p2pPrivatePeerIds: {
    name: "p2p.private_peer_ids",
    value: "<ids>",
    summary: "with cometbft: nodes that others are not told of, separated by commas",
    parse: asText,
  },
  p2pPex: {
    name: "p2p.pex",
    value: "<true|false>",
    summary: "with cometbft: exchange addresses with other nodes",
    default: "true",
    parse: asSwitch,
  },
  privValidatorLaddr: {
    name: "priv_validator_laddr",
    value: "<address>",
    summary: "with cometbft: where a remote signer connects; the key of the home signs without it",
    parse: asText,
  },
  doubleSignCheckHeight: {
    name: "double-sign-check-height",
    value: "<n>",
    summary: "with cometbft: blocks that are searched for own votes before the node signs; 0 for none",
    default: "0",
    parse: asCount,
  },
  stateSyncServers: {
    name: "state-sync.rpc-servers",
    value: "<addresses>",
    summary: "with cometbft: nodes by whose blocks a new home fetches a snapshot, two or more, separated by commas",
    parse: parseServers,
  },
  stateSyncHeight: {
    name: "state-sync.trust-height",
    value: "<n>",
    summary: "for --state-sync.rpc-servers: height of a block that you trust",
    default: "0",
    parse: asCount,
  },
  stateSyncHash: {
    name: "state-sync.trust-hash",
    value: "<hash>",
    summary: "for --state-sync.rpc-servers: hash of that block",
    parse: parseHash,
  },
  stateSyncPeriod: {
    name: "state-sync.trust-period",
    value: "<duration>",
    summary: "for --state-sync.rpc-servers: how long a block is trusted, shorter than the unbonding time",
    default: "14d",
    parse: asDuration,
  },
} as const satisfies SettingTable;

const S = ENGINE_SETTINGS;

/** The engine of a node; all but its kind is for CometBFT alone. */
export interface EngineConfig extends Pick<CometSettings, "p2p" | "signerLaddr" | "doubleSignCheckHeight" | "others"> {
  /** Where a home without blocks gets its state. */
  readonly stateSync: StateSyncSettings;
  readonly kind: "embedded" | "cometbft";
  /** JSON-RPC of a node whose blocks are executed; undefined = this one makes blocks. */
  readonly follow: string | undefined;
  /** Path of the program; undefined = search. */
  readonly program: string | undefined;
  /** Whether the node runs the program; otherwise another does, with these addresses; undefined = sockets of the home. */
  readonly isChild: boolean;
  readonly abci: EnginePlace | undefined;
  readonly rpc: EnginePlace | undefined;
}

export function readEngine(read: ReadSetting, others: CometKeys): EngineConfig {
  return {
    others,
    kind: read(S.engine),
    follow: read(S.follow),
    program: read(S.cometbft),
    isChild: read(S.withCometbft),
    abci: read(S.proxyApp),
    rpc: read(S.cometbftRpc),
    p2p: {
      laddr: read(S.p2pLaddr),
      externalAddress: read(S.p2pExternalAddress),
      persistentPeers: read(S.p2pPersistentPeers),
      seeds: read(S.p2pSeeds),
      privatePeerIds: read(S.p2pPrivatePeerIds),
      pex: read(S.p2pPex),
    },
    signerLaddr: read(S.privValidatorLaddr),
    doubleSignCheckHeight: read(S.doubleSignCheckHeight),
    stateSync: {
      rpcServers: read(S.stateSyncServers),
      trustHeight: read(S.stateSyncHeight),
      trustHash: read(S.stateSyncHash),
      trustPeriodMs: read(S.stateSyncPeriod),
    },
  };
}

const SERVER = /^(?:(?:https?|tcp):\/\/)?[\w.[\]:-]+(?:\/\S*)?$/;
const readServers = asList("addresses such as https://rpc.example.com or 10.0.0.7:26657", (word) =>
  SERVER.test(word) ? word : undefined,
);

/** The nodes behind the first one confirm its blocks. */
function parseServers(text: string): readonly string[] {
  const servers = readServers(text);
  if (servers.length === 1) throw new WrongForm("two addresses or more: the second node confirms the first");
  return servers;
}

function parseHash(text: string): string {
  if (!/^(?:[0-9a-fA-F]{64})?$/.test(text)) throw new WrongForm("a hash of 64 hexadecimal digits");
  return text.toUpperCase();
}

/** A socket of this machine: its users decide which blocks the application executes. */
function parsePlace(text: string): EnginePlace {
  const [, path] = /^unix:\/\/(\/.+)$/.exec(text) ?? [];
  if (path !== undefined) return { path };
  const [, host = "", digits] = /^tcp:\/\/(localhost|127(?:\.\d{1,3}){3}):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port < 1 || port > 65_535)
    throw new WrongForm("an address of this machine, unix:///path or tcp://127.0.0.1:26658");
  return { host: host === "localhost" ? "127.0.0.1" : host, port };
}
