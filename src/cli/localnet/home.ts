import { copyFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TxSigner } from "../../client/index.ts";
import { derivePrivateKey, generateMnemonic, mnemonicToSeed } from "../../crypto/index.ts";
import { type Keyring, openKeyring, passphraseFile } from "../../keyring/index.ts";
import { addGenesisAccounts, addGenesisValidator, defaultAppState, homePaths, initHome } from "../../node/index.ts";
import {
  assert,
  DEFAULT_HD_PATH,
  makePrivateDirectory,
  NATIVE_DENOM,
  readFileText,
  replaceFile,
  shellWord,
} from "../../util/index.ts";
import { encodeAddress, type JsonObject, type JsonValue } from "../../wire/index.ts";
import { userHome } from "../command/home.ts";
import { setConfig } from "../config/edit.ts";
import { type HomeLock, lockHome } from "../config/home-lock.ts";
import { findConfigKey } from "../config/keys.ts";
import { commandError } from "../errors.ts";
import { ONE_MACHINE, writeSettingsFiles } from "../node/settings-files.ts";

export const LOCALNET_CHAIN_ID = "svc-local-1";

/** Delegation of an operator to its validator: a tenth of a percent of the supply. */
const BONDED = 1_000_000_000_000n;

/** The accounts of a localnet with their initial balances, in the smallest unit. */
export const ACCOUNTS: Readonly<Record<"faucet" | "alice" | "bob" | "provider" | "validator", bigint>> = {
  faucet: 1_000_000_000_000_000n,
  alice: 1_000_000_000n,
  bob: 1_000_000_000n,
  provider: 1_000_000_000n,
  validator: 1_000_000_000n + BONDED,
};

/** A file that marks a folder as made by this command, so that it may be removed. */
const MARKER = "localnet.json";
const MAX_MARKER = 64 * 1024;
const DEFAULT_INTERVAL_MS = 6000;

/** The running localnet's record in its home, for other commands. */
export interface LocalnetState {
  readonly chainId: string;
  readonly rpc: string;
  readonly netUrl: string;
  /** Whether the home is kept when the localnet stops. */
  readonly kept: boolean;
  /** Number of validators of the chain. */
  readonly validators: number;
}

/** Names of the nodes, the providers and the keys of validators: the first is `node`, the second `node-2`. */
export function memberName(kind: "node" | "provider" | "validator", index: number): string {
  return index === 0 ? kind : `${kind}-${index + 1}`;
}

/** The first node and the first provider have the home, each further one a folder in it. */
export function memberHome(home: string, kind: "node" | "provider", index: number): string {
  return index === 0 ? home : join(home, memberName(kind, index));
}

/** `~/.svc/localnet`, or with an offset a folder beside it. */
export function defaultLocalnetHome(offset: number): string {
  return join(userHome(), ".svc", offset === 0 ? "localnet" : `localnet-${offset}`);
}

/** Written atomically: with a truncated marker the home would not be recognised as one to keep. */
export function writeState(home: string, state: LocalnetState): void {
  replaceFile(join(home, MARKER), `${JSON.stringify(state, null, 2)}\n`);
}

/** The flags by which other commands find a localnet's home; nothing for the first one. */
export function homeFlags(home: string, offset: number): string {
  if (home !== defaultLocalnetHome(offset)) return ` --home ${shellWord(home)}`;
  return offset === 0 ? "" : ` --port-offset ${offset}`;
}

export function readState(home: string, offset: number): LocalnetState {
  try {
    const state = JSON.parse(readFileText(join(home, MARKER), { maxBytes: MAX_MARKER })) as Partial<LocalnetState>;
    const { chainId, rpc, netUrl, kept = false, validators = 1 } = state;
    if (chainId === undefined || rpc === undefined || netUrl === undefined) throw new Error("never came up");
    return { chainId, rpc, netUrl, kept, validators };
  } catch {
    throw commandError(`no localnet in ${home}`, {
      hint: `start one with: svc localnet${homeFlags(home, offset)}, or name the home of a running one with --home`,
    });
  }
}

/** Whether a completely made home exists. */
export function isWholeHome(home: string): boolean {
  return validatorsOf(home) !== undefined;
}

/** Whether a home exists that outlives the localnets that run in it. */
export function isKeptHome(home: string): boolean {
  const marker = readMarker(home);
  return "kept" in marker && marker.kept === true;
}

/** Number of validators of the chain of a home; undefined if the home is not completely made. */
export function validatorsOf(home: string): number | undefined {
  const marker = readMarker(home);
  if (!("chainId" in marker)) return undefined;
  return "validators" in marker && typeof marker.validators === "number" ? marker.validators : 1;
}

function readMarker(home: string): object {
  const path = join(home, MARKER);
  if (!existsSync(path)) return {};
  // A marker that cannot be read may say that the home is to be kept.
  const text = readFileText(path, { maxBytes: MAX_MARKER });
  try {
    const marker: unknown = JSON.parse(text);
    return typeof marker === "object" && marker !== null ? marker : {};
  } catch {
    // A start that was killed while it made the home.
    return {};
  }
}

/** Refuses a folder that this command did not make, unless it is empty: nothing in it may be removed. */
export function requireLocalnetHome(home: string): void {
  if (!existsSync(home) || isEmptyFolder(home) || existsSync(join(home, MARKER))) return;
  throw commandError(`${home} exists and was not made by svc localnet`, { hint: "name another folder with --home" });
}

/** Removes a localnet's home, the marker last: a removal that is cut short leaves a home of ours. */
export function removeHome(home: string): void {
  requireLocalnetHome(home);
  if (!existsSync(home)) return;
  for (const name of readdirSync(home)) if (name !== MARKER) rmSync(join(home, name), { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
}

function isEmptyFolder(path: string): boolean {
  return statSync(path).isDirectory() && readdirSync(path).length === 0;
}

export function localnetKeyring(home: string): Keyring {
  return openKeyring({ backend: "test", dir: home, passphrase: passphraseFile(""), notify: () => {} });
}

/** A signer for a key of a keyring. */
export async function keySigner(keyring: Keyring, name: string): Promise<TxSigner> {
  const key = await keyring.get(name);
  return {
    address: encodeAddress(key.address),
    publicKey: key.publicKey,
    sign: (bytes) => keyring.sign(key.name, bytes),
  };
}

/** Makes a key, unless the keyring has it. Returns its address. */
export async function makeKey(keyring: Keyring, name: string): Promise<string> {
  const found = await keyring.find(name);
  if (found !== undefined) return encodeAddress(found.address);
  const seed = await mnemonicToSeed(await generateMnemonic());
  return encodeAddress((await keyring.addLocal(name, await derivePrivateKey(seed, DEFAULT_HD_PATH))).address);
}

/** Makes keys and chain: every account funded, block-counted parameters scaled to the interval. */
export async function makeHome(home: string, intervalMs: number, validators = 1): Promise<void> {
  makePrivateDirectory(home);
  writeFileSync(join(home, MARKER), "{}\n", { mode: 0o600 });
  const appState = shortenVotes(scaleParams(defaultAppState(), intervalMs));
  const homes = Array.from({ length: validators }, (_, i) => memberHome(home, "node", i));
  for (const [i, each] of homes.entries())
    initHome({ home: each, moniker: i === 0 ? "localnet" : `localnet-${i + 1}`, chainId: LOCALNET_CHAIN_ID, appState });
  const keyring = localnetKeyring(home);
  const funds = homes.slice(1).map((_, i) => [memberName("validator", i + 1), ACCOUNTS.validator] as const);
  const accounts = [];
  for (const [name, amount] of [...Object.entries(ACCOUNTS), ...funds])
    accounts.push({ name, address: await makeKey(keyring, name), coins: [{ denom: NATIVE_DENOM, amount }] });
  addGenesisAccounts(home, accounts);
  const operators = accounts.filter(({ name }) => name.startsWith("validator"));
  for (const [i, { address: operator }] of operators.entries())
    addGenesisValidator(home, { operator, bonded: { denom: NATIVE_DENOM, amount: BONDED }, nodeHome: homes[i] });
  for (const other of homes.slice(1)) copyFileSync(homePaths(home).genesis, homePaths(other).genesis);
  if (validators > 1)
    for (const [i, each] of homes.entries()) writeSettingsFiles(each, { moniker: `localnet-${i + 1}` }, ONE_MACHINE);
  writeFileSync(join(home, MARKER), `${JSON.stringify({ chainId: LOCALNET_CHAIN_ID, validators })}\n`, { mode: 0o600 });
}

const BLOCK_COUNTED: readonly (readonly [module: string, param: string])[] = [
  ["deployment", "min_start_blocks"],
  ["market", "order_max_open_blocks"],
  ["escrow", "low_balance_blocks"],
  ["mint", "blocks_per_year"],
];

/** Times counted in blocks stay the same when blocks come faster. */
function scaleParams(appState: JsonObject, intervalMs: number): JsonObject {
  const state: Record<string, JsonValue> = { ...appState };
  for (const [module, name] of BLOCK_COUNTED) {
    const genesis = state[module];
    const params = isObject(genesis) ? genesis.params : undefined;
    if (!isObject(genesis) || !isObject(params)) continue;
    const blocks = Math.round((Number(params[name] ?? 0) * DEFAULT_INTERVAL_MS) / intervalMs);
    state[module] = { ...genesis, params: { ...params, [name]: String(blocks) } };
  }
  return state;
}

/** A vote ends while the user who tries it is still watching. */
const SHORT_VOTES = { max_deposit_period: "300s", voting_period: "60s", expedited_voting_period: "30s" };

function shortenVotes(appState: JsonObject): JsonObject {
  const { gov } = appState;
  const params = isObject(gov) ? gov.params : undefined;
  if (!isObject(gov) || !isObject(params)) return appState;
  return { ...appState, gov: { ...gov, params: { ...params, ...SHORT_VOTES } } };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lets commands with this home find its keys and its node: `client.toml` names them. */
export function writeClientSettings(home: string, node: string): void {
  const settings = { "chain-id": LOCALNET_CHAIN_ID, "keyring-backend": "test", node };
  for (const [name, value] of Object.entries(settings)) {
    const key = findConfigKey(name);
    assert(key !== undefined, `${name} is a setting`);
    setConfig(home, { key, value, profile: undefined });
  }
}

/** A second start would remove the home and the containers of the first. The lock is in the run folder. */
export function lockLocalnet(home: string, runDir: string): HomeLock {
  return lockHome(runDir, {
    text: `a localnet is already running in ${home}`,
    hint: "stop it with Ctrl-C in its terminal, or start another one with --port-offset 100 (and its own --home)",
  });
}
