import { AnySchema } from "@bufbuild/protobuf/wkt";
import {
  addGenesisAccounts,
  BLOCK_PROTOCOL,
  ENGINE_VERSION,
  exportGenesis,
  type GenesisVesting,
  homeNodeId,
  homePaths,
  homeValidatorKey,
  initHome,
  type Node,
  P2P_PROTOCOL,
  readGenesisText,
  readNodeConfig,
  resetHome,
  rollback,
  startNode,
  tryGenesis,
  UpgradeNeeded,
  validateGenesis,
} from "../../node/index.ts";
import type { Restart } from "../../runtime/index.ts";
import {
  createLogger,
  EXIT,
  errorText,
  MAX_GENESIS_BYTES,
  parseCoins,
  SvcError,
  toHexUpper,
} from "../../util/index.ts";
import {
  decodeAddress,
  encodeAddress,
  isAddress,
  type JsonValue,
  printJson,
  publicKeyAddress,
  publicKeyToAny,
  sortJson,
  toJson,
} from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { homeOf } from "../command/home.ts";
import { inArgument, inFlag } from "../command/in-flag.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { keyringOptions } from "../context/context.ts";
import { cliKeyring } from "../context/keyring.ts";
import { usageError } from "../errors.ts";
import { findKey } from "../keys/keys.ts";
import { readTextFile } from "../terminal/files.ts";
import { printAs, printResult } from "../terminal/output.ts";
import { stopRequested } from "../terminal/signals.ts";
import { logOptions } from "./log-options.ts";
import { keepOwnBlock } from "./own-block.ts";
import { engineKeys, nodeSettings, writeSettingsFiles } from "./settings-files.ts";
import { VERSION } from "./version.ts";

/** The number by which the ecosystem's tools mean the last height. */
const LAST_HEIGHT = "-1";
const GENESIS_FILE = { what: "genesis file", maxBytes: MAX_GENESIS_BYTES, hint: "give a file made by svc export" };

/** `init <moniker>`: creates a node's home and describes it on standard error. */
export const init: Run = async ({ args: [moniker = ""], flags, io }) => {
  const { app_message, ...summary } = initHome({
    home: homeOf(flags),
    moniker,
    chainId: flags.optional("chain-id"),
    overwrite: flags.bool("overwrite"),
  });
  writeSettingsFiles(homeOf(flags), { moniker });
  const json: JsonValue = { ...summary, app_message };
  io.err(`${printJson(sortJson(json))}\n`);
};

/** `add-genesis-account <address_or_key> <coins>`: gives an account tokens in the first state. Prints nothing. */
export const addGenesisAccount: Run = async (input) => {
  const [account = "", coins = ""] = input.args;
  const parsed = inArgument("coins", () => readCoins(coins));
  const address = isAddress(account) ? account : await keyAddress(input, account);
  addGenesisAccounts(homeOf(input.flags), [{ address, coins: parsed, vesting: readVesting(input.flags) }]);
};

/** The locked coins of the flags; undefined when none are given. */
function readVesting(flags: Flags): GenesisVesting | undefined {
  const amount = inFlag(flags, "vesting-amount", () => parseCoins(flags.text("vesting-amount")));
  const [start, end] = [flags.uint64("vesting-start-time"), flags.uint64("vesting-end-time")];
  if (amount.length > 0) {
    if (end > 0n) return { amount, start, end };
    throw usageError(
      "--vesting-end-time is missing",
      "give the time when all coins have vested, in seconds since 1970",
    );
  }
  if (start === 0n && end === 0n) return undefined;
  throw usageError("--vesting-amount is missing", "say which coins are locked, for example 1000utoken");
}

/** `validate-genesis [file]`: checks a genesis file the way a starting node does. */
export const validateGenesisFile: Run = async (input) => {
  const [file] = input.args;
  const home = homeOf(input.flags);
  const text = file === undefined ? readGenesisText(home) : readTextFile(file, GENESIS_FILE);
  // Only a chain that begins shows whether the states of the modules fit each other.
  tryGenesis(validateGenesis(text));
  const path = file ?? homePaths(home).genesis;
  printAs(input, { file: path, valid: true }, `File at ${path} is a valid genesis file\n`);
};

/** `export`: the state of a height as a genesis file, on standard output. */
export const exportState: Run = async ({ flags, io }) => {
  const height = flags.text("height") === LAST_HEIGHT ? undefined : flags.uint64("height");
  io.out(`${exportGenesis(homeOf(flags), height, readRestart(flags))}\n`);
};

/** How a chain begins at height 1; undefined where it continues at the next height. */
function readRestart(flags: Flags): Restart | undefined {
  const names = flags.text("jail-allowed-addrs");
  if (!flags.bool("for-zero-height")) {
    if (names === "") return undefined;
    throw usageError("--jail-allowed-addrs needs --for-zero-height", "give both, or neither");
  }
  if (names === "") return {};
  return { unjailed: inFlag(flags, "jail-allowed-addrs", () => names.split(",").map(readOperator)) };
}

function readOperator(text: string): Uint8Array {
  return decodeAddress(text.trim(), "valoper");
}

/** `unsafe-reset-all`: forgets the chain of the home. */
export const unsafeResetAll: Run = async ({ flags, io }) => {
  const gone = resetHome(homeOf(flags));
  io.err(`removed ${gone} and the record of the last vote; keys, genesis file and settings stay\n`);
};

/** `start`: runs a node until it is stopped. */
export const start: Run = async ({ flags, io }) => {
  const config = readNodeConfig(nodeSettings(flags), engineKeys(homeOf(flags)));
  const logger = createLogger(logOptions(flags));
  // Its servers answer before all of it has begun: who asks it to end by then means this node, which ends in order.
  const stopped = stopRequested();
  try {
    const node = await startNode({ home: homeOf(flags), config, logger, version: VERSION });
    const report = (error: unknown) => logger.warn("no block for clients of this home is kept", { error });
    const ended = endOf(node, stopped.received);
    const isReady = await Promise.race([node.ready.then(() => true), ended.then(() => false)]);
    if (isReady) await keepOwnBlock(node.chain, homeOf(flags), report).catch(report);
    if (isReady) io.out(`node ready: ${await placeOf(node)}\n`);
    const error = await ended;
    logger.info("exiting...");
    await node.stop();
    if (error === undefined) return EXIT.done;
    io.err(`Error: ${error instanceof UpgradeNeeded ? "" : "the node stopped: "}${errorText(error)}\n`);
    if (error instanceof SvcError && error.hint !== undefined) io.err(`Hint: ${error.hint}\n`);
    return EXIT.failed;
  } finally {
    stopped.forget();
  }
};

/** The chain of a node, its height and the addresses of its servers. */
async function placeOf({ chain, addresses }: Node): Promise<string> {
  const { height } = await chain.status();
  const servers = Object.values(addresses).map(({ name, address }) => `${name} ${address}`);
  return [`chain ${chain.genesis.chainId}`, `height ${height}`, ...servers].join(", ");
}

/** Resolves when the node is asked to stop, or with the error if it ends unexpectedly. */
async function endOf(node: Node, signal: Promise<unknown>): Promise<unknown> {
  return Promise.race([signal.then(() => undefined), node.ended.then(({ error }) => error)]);
}

function readCoins(text: string) {
  const coins = parseCoins(text);
  if (coins.length === 0) throw usageError("write the coins of the account, for example 1000000utoken");
  return coins;
}

async function keyAddress({ flags, io }: CommandInput, name: string): Promise<string> {
  const options = keyringOptions({ flags });
  const { address } = await findKey(cliKeyring(options, io), name, options);
  return encodeAddress(address);
}

/** `rollback`: the state of the block before the last one, reported in the words of the ecosystem's tools. */
export const rollbackState: Run = async (input) => {
  const { flags } = input;
  const { height, appHash } = rollback(homeOf(flags), {
    hard: flags.bool("hard"),
    program: flags.optional("cometbft"),
  });
  const hash = toHexUpper(appHash);
  printAs(
    input,
    { height: String(height), app_hash: hash },
    `Rolled back state to height ${height} and hash ${hash}\n`,
  );
};

/** Version of the interface between engine and application. */
const ABCI_VERSION = "2.0.0";

/** `tendermint show-node-id`. */
export async function showNodeId(input: CommandInput): Promise<void> {
  const id = homeNodeId(homeOf(input.flags));
  printAs(input, { node_id: id }, `${id}\n`);
}

/** `tendermint show-validator`: the key with which the node signs blocks, in the form that files of validators use. */
export async function showValidator({ flags, io }: CommandInput): Promise<void> {
  printResult(toJson(AnySchema, publicKeyToAny(validatorKey(flags), flags.profile.namespace)), "json", io);
}

/** `tendermint show-address`: the consensus address of that key. */
export async function showAddress(input: CommandInput): Promise<void> {
  const { flags } = input;
  const address = encodeAddress(publicKeyAddress(validatorKey(flags)), "valcons", flags.profile.bech32Prefix);
  printAs(input, { address }, `${address}\n`);
}

function validatorKey(flags: Flags) {
  return { type: "ed25519", key: homeValidatorKey(homeOf(flags)) } as const;
}

/** `tendermint version`: the protocols of the engine. */
export async function engineVersion({ flags, io }: CommandInput): Promise<void> {
  const versions = {
    ABCI: ABCI_VERSION,
    BlockProtocol: BLOCK_PROTOCOL,
    CometBFT: ENGINE_VERSION,
    P2PProtocol: P2P_PROTOCOL,
  };
  printResult(versions, flags.text("output") === "json" ? "json" : "text", io);
}
