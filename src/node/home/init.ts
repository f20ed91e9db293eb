import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { consensusAddress, ed25519PublicKey } from "../../crypto/index.ts";
import { DEFAULT_CONSENSUS_PARAMS, type Genesis, genesisToJson, signStateText } from "../../engine/index.ts";
import { makePrivateDirectory } from "../../util/index.ts";
import type { JsonValue } from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { defaultAppState, hasBlocks, writeGenesis } from "./genesis.ts";
import { homePaths, writeWhole } from "./home.ts";
import { loadOrMakeKey, nodeId, writeNodeKey, writeValidatorKey } from "./keys.ts";

export interface InitOptions {
  readonly home: string;
  readonly moniker: string;
  /** A random test chain when it is left out. */
  readonly chainId?: string | undefined;
  readonly overwrite?: boolean;
  /** Nanoseconds since 1970; the present time when it is left out. */
  readonly time?: bigint;
  /** The first state; the modules' defaults when it is left out. */
  readonly appState?: Record<string, JsonValue>;
}

/** Result of the command, with the keys in the order of the reference's output. */
export interface InitSummary {
  readonly app_message: Readonly<Record<string, JsonValue>>;
  readonly chain_id: string;
  readonly gentxs_dir: string;
  readonly moniker: string;
  readonly node_id: string;
}

const SECRET_MODE = 0o600;
const VALIDATOR_POWER = 10n;

/**
 * Makes a node's home: keys, genesis file with this node as the only validator, empty data. Keeps existing keys and an
 * existing record of the last vote.
 */
export function initHome(options: InitOptions): InitSummary {
  const { home, moniker, overwrite = false, chainId = randomChainId() } = options;
  const paths = homePaths(home);
  if (!/^[A-Za-z0-9._-]{3,50}$/.test(chainId)) throw nodeErrors.badChainId(JSON.stringify(chainId.slice(0, 60)));
  if (!/^[^\p{Cc}]{1,70}$/u.test(moniker)) throw nodeErrors.badMoniker(JSON.stringify(moniker.slice(0, 80)));
  if (existsSync(paths.genesis) && !overwrite)
    throw nodeErrors.genesisExists(`genesis.json file already exists: ${paths.genesis}`);
  // A chain always starts with the file that it began with: replacing it would cost the chain.
  if (hasBlocks(paths.database)) throw nodeErrors.genesisInUse(`${paths.database} holds the blocks of a chain`);
  makePrivateDirectory(home);
  const nodeSeed = loadOrMakeKey(paths.nodeKey, writeNodeKey);
  const validatorSeed = loadOrMakeKey(paths.validatorKey, writeValidatorKey);
  if (!existsSync(paths.validatorState)) writeWhole(paths.validatorState, signStateText(), SECRET_MODE);
  const appState = options.appState ?? defaultAppState();
  const pubKey = ed25519PublicKey(validatorSeed);
  const genesis: Genesis = {
    time: options.time ?? BigInt(Date.now()) * 1_000_000n,
    chainId,
    initialHeight: 1n,
    consensusParams: DEFAULT_CONSENSUS_PARAMS,
    validators: [{ address: consensusAddress(pubKey), pubKey, power: VALIDATOR_POWER, name: moniker }],
    appState,
  };
  // The genesis file comes last: a home without one is not initialised and can be made again.
  writeGenesis(home, genesisToJson(genesis));
  return { app_message: appState, chain_id: chainId, gentxs_dir: "", moniker, node_id: nodeId(nodeSeed) };
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function randomChainId(): string {
  return `test-chain-${Array.from({ length: 6 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")}`;
}
