import type { CometKeys, CometSettings } from "../../engine/index.ts";
import { asCount, asOneOf, asSwitch, asText, optional, type ReadSetting, type SettingTable } from "../../util/index.ts";

/** Settings of the engine. */
export const ENGINE_SETTINGS = {
  engine: {
    name: "engine",
    value: "<name>",
    summary: "engine that makes the blocks: embedded, for one validator; or cometbft, which runs beside the node",
    default: "embedded",
    parse: asOneOf(["embedded", "cometbft"]),
  },
  cometbft: {
    name: "cometbft",
    value: "<path>",
    summary: "program of CometBFT (default: that of PATH, or the one of svc engine install)",
    parse: optional(asText),
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
} as const satisfies SettingTable;

const S = ENGINE_SETTINGS;

/** The engine of a node; all but its kind is for CometBFT alone. */
export interface EngineConfig extends Pick<CometSettings, "p2p" | "signerLaddr" | "doubleSignCheckHeight" | "others"> {
  readonly kind: "embedded" | "cometbft";
  /** Path of the program; undefined = search. */
  readonly program: string | undefined;
}

export function readEngine(read: ReadSetting, others: CometKeys): EngineConfig {
  return {
    others,
    kind: read(S.engine),
    program: read(S.cometbft),
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
  };
}
