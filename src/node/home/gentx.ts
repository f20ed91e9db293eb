import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createApp, RefusedGenesisTx } from "../../app/index.ts";
import type { Genesis } from "../../engine/index.ts";
import { genesisTxBytes } from "../../modules/genutil/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { errorText, readFileText } from "../../util/index.ts";
import { GenesisStateSchema } from "../../wire/gen/sdk/genutil/v1beta1/genutil_pb.js";
import { MsgCreateValidatorSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { type Tx, TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { fromJson, type JsonObject, MAX_TX_BYTES, readJson, toJson, unpackAs } from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { readGenesisText, refuseBegun, validateGenesis, writeGenesis } from "./genesis.ts";
import { homePaths } from "./home.ts";
import { homeNodeId } from "./identity.ts";
import type { InitSummary } from "./init.ts";

/** A file of a transaction: JSON is larger than the bytes that it encodes. */
const MAX_FILE_BYTES = 8 * MAX_TX_BYTES;

/** Most files of transactions that are read. */
const MAX_FILES = 1000;

/** The folder that collects the transactions of the first validators, one file each. */
export function gentxDirectory(home: string): string {
  return join(homePaths(home).config, "gentx");
}

/** Reads a file made by `gentx`. Throws one sentence that names it. */
function readGenesisTx(path: string): Tx {
  try {
    const tx = fromJson(TxSchema, readJson(readFileText(path, { maxBytes: MAX_FILE_BYTES })));
    genesisTxBytes(tx);
    return tx;
  } catch (error) {
    throw nodeErrors.badGenesisTx(`${path}: ${errorText(error)}`, { cause: error });
  }
}

/** Begins the chain of a genesis in memory: signatures, balances and invariants hold, or one error names the fault. */
export function tryGenesis(genesis: Genesis): void {
  createApp({ database: memoryDatabase() }).initChain(genesis);
}

/** Whether the chain of the home's genesis file would begin with this transaction. */
export function checkGenesisTx(home: string, tx: Tx): void {
  const genesis = validateGenesis(readGenesisText(home));
  tryGenesis(withGenesisTxs(genesis, [tx]));
}

/**
 * Puts the transactions of all files of a folder into the home's genesis file, in the order of their names, after a
 * trial start of the chain with them. The validators of the first block follow from them. Throws, and changes nothing,
 * if one is invalid.
 */
export function collectGenesisTxs(home: string, directory = gentxDirectory(home)): InitSummary {
  refuseBegun(home);
  const text = readGenesisText(home);
  const genesis = validateGenesis(text);
  const files = genesisTxFiles(directory).map((path) => ({ path, tx: readGenesisTx(path) }));
  const changed = withGenesisTxs(
    genesis,
    files.map(({ tx }) => tx),
  );
  tryFiles(changed, files);
  const json: JsonObject = JSON.parse(text);
  const app_message = changed.appState;
  // The signers of blocks follow from the transactions.
  writeGenesis(home, { ...json, validators: [], app_state: app_message });
  const own = genesis.validators[0]?.name ?? "";
  return { app_message, chain_id: genesis.chainId, gentxs_dir: directory, moniker: own, node_id: homeNodeId(home) };
}

interface GenesisTxFile {
  readonly path: string;
  readonly tx: Tx;
}

/** Like `tryGenesis`; names the file of a transaction that is refused. */
function tryFiles(genesis: Genesis, files: readonly GenesisTxFile[]): void {
  try {
    tryGenesis(genesis);
  } catch (error) {
    const refused = error instanceof RefusedGenesisTx ? files[error.index] : undefined;
    if (!(error instanceof RefusedGenesisTx) || refused === undefined) throw error;
    const earlier = files.slice(0, error.index).find(({ tx }) => operatorOf(tx) === operatorOf(refused.tx));
    // One was copied, or made again without removing the other; the chain would speak of the account's sequence.
    if (earlier !== undefined)
      throw nodeErrors.twoGenesisTxs(`${earlier.path} and ${refused.path} both create ${operatorOf(refused.tx)}`);
    throw error.wrap(refused.path);
  }
}

function operatorOf({ body }: Tx): string | undefined {
  return unpackAs(MsgCreateValidatorSchema, body?.messages[0])?.validatorAddress;
}

function withGenesisTxs(genesis: Genesis, txs: readonly Tx[]): Genesis {
  const genutil = toJson(
    GenesisStateSchema,
    { $typeName: GenesisStateSchema.typeName, genTxs: [...txs] },
    { exact: true },
  );
  return { ...genesis, appState: { ...genesis.appState, genutil } };
}

function genesisTxFiles(directory: string): string[] {
  const hint = "run svc gentx on the machine of each validator, and put the files it writes into this folder";
  if (!existsSync(directory)) throw nodeErrors.noGenesisTxs(`there is no ${directory}`, { hint });
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json") && !entry.name.startsWith("."))
    .map(({ name }) => join(directory, name))
    .sort();
  if (names.length === 0) throw nodeErrors.noGenesisTxs(`${directory} has no .json file`, { hint });
  if (names.length > MAX_FILES)
    throw nodeErrors.noGenesisTxs(`${directory} has more than ${MAX_FILES} files`, { hint });
  return names;
}
