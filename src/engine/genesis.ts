import { type ConsensusParams, consensusParamsProblems, DEFAULT_CONSENSUS_PARAMS } from "../abci/index.ts";
import { consensusAddress, sha256OfParts } from "../crypto/index.ts";
import { errorText, fromBase64, fromHex, SvcError, toBase64, toHexUpper, toUtf8 } from "../util/index.ts";
import { type JsonObject, writeSortedJson } from "../wire/index.ts";
import { formatRfc3339, parseRfc3339 } from "./embedded/blocks/time.ts";
import type { Validator } from "./embedded/blocks/types.ts";
import { type GenesisParts, type GenesisReading, readGenesisParts } from "./genesis-parts.ts";

/** The first state of a chain, from its genesis file. */
export interface Genesis extends GenesisHead {
  /** Each member is read from the file when it is asked for, and not kept. */
  readonly appState: JsonObject;
}

/** The part of a genesis that is kept while the chain runs: the application's state may be hundreds of megabytes. */
export interface GenesisHead {
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly chainId: string;
  readonly initialHeight: bigint;
  readonly consensusParams: ConsensusParams;
  readonly validators: readonly GenesisValidator[];
}

export interface GenesisValidator extends Validator {
  readonly name: string;
}

const MAX_CHAIN_ID_LENGTH = 50;
const MAX_VOTING_POWER = 2n ** 60n;

/** Key types as the engine's JSON names them. */
export const PUBLIC_KEY_TYPE = "tendermint/PubKeyEd25519";
export const PRIVATE_KEY_TYPE = "tendermint/PrivKeyEd25519";

export function genesisHead({ appState: _, ...head }: Genesis): GenesisHead {
  return head;
}

/** The genesis file's JSON, in the reference engine's form. */
export function genesisToJson(genesis: Genesis): JsonObject {
  return {
    genesis_time: formatRfc3339(genesis.time),
    chain_id: genesis.chainId,
    initial_height: genesis.initialHeight.toString(),
    consensus_params: consensusParamsToJson(genesis.consensusParams),
    validators: genesis.validators.map(({ address, pubKey, power, name }) => ({
      address: toHexUpper(address),
      pub_key: { type: PUBLIC_KEY_TYPE, value: toBase64(pubKey) },
      power: power.toString(),
      name,
    })),
    app_hash: "",
    app_state: genesis.appState,
  };
}

export function consensusParamsToJson({ block, evidence, validator }: ConsensusParams): JsonObject {
  return {
    block: { max_bytes: block.maxBytes.toString(), max_gas: block.maxGas.toString() },
    evidence: {
      max_age_num_blocks: evidence.maxAgeNumBlocks.toString(),
      max_age_duration: evidence.maxAgeDuration.toString(),
      max_bytes: evidence.maxBytes.toString(),
    },
    validator: { pub_key_types: validator.pubKeyTypes },
    version: {},
    abci: { vote_extensions_enable_height: "0" },
  };
}

/** Hash of a genesis file's content, whatever its spacing and the order of its keys. */
export function genesisHash(genesis: Genesis): Uint8Array {
  return sha256OfParts((add) => writeSortedJson(genesisToJson(genesis), add));
}

/** Reads a genesis file. Throws one sentence that names the field at fault. */
export function parseGenesis(file: string | Uint8Array, reading: GenesisReading = {}): Genesis {
  const bytes = typeof file === "string" ? toUtf8(file) : file;
  try {
    return genesisFromParts(readGenesisParts(bytes, reading));
  } catch (error) {
    const cut = cutShort(bytes);
    const hint =
      cut === undefined ? "correct the genesis file, or copy it again" : "copy the genesis file again, whole";
    throw new SvcError("genesis", 1, `invalid genesis: ${cut ?? errorText(error)}`, { cause: error, hint });
  }
}

/** Whether a file that cannot be read ends before its last bracket. */
function cutShort(bytes: Uint8Array): string | undefined {
  const last = bytes.findLast((byte) => byte > SPACE);
  if (last === undefined) return "the file is empty";
  return last === CLOSING_BRACE ? undefined : `the file is cut short: it ends after ${bytes.length} bytes`;
}

const SPACE = 0x20;
const CLOSING_BRACE = 0x7d;

function genesisFromParts({ json, part }: GenesisParts): Genesis {
  const fields = new Fields(json, "");
  const chainId = fields.text("chain_id");
  if (!/^[\x21-\x7e]+$/.test(chainId) || chainId.length > MAX_CHAIN_ID_LENGTH) {
    throw new Error(`chain_id must have 1 to ${MAX_CHAIN_ID_LENGTH} characters and no spaces`);
  }
  const initialHeight = fields.has("initial_height") ? fields.integer("initial_height") : 1n;
  if (initialHeight < 0n) throw new Error("initial_height must not be negative");
  return {
    time: parseRfc3339(fields.text("genesis_time")),
    chainId,
    initialHeight: initialHeight === 0n ? 1n : initialHeight,
    consensusParams: fields.has("consensus_params")
      ? consensusParamsFromJson(fields.object("consensus_params"))
      : DEFAULT_CONSENSUS_PARAMS,
    validators: fields.list("validators").map(validatorFromJson),
    appState: readLater(fields.object("app_state").value, part),
  };
}

function readLater(numbers: Readonly<Record<string, unknown>>, part: GenesisParts["part"]): Genesis["appState"] {
  const state = {};
  for (const [name, number] of Object.entries(numbers))
    Object.defineProperty(state, name, { enumerable: true, get: () => part(name, number) });
  return state;
}

/** Parameters of other engines and applications that would change blocks here without being used. */
const UNSUPPORTED = [
  ["abci", "vote_extensions_enable_height"],
  ["version", "app"],
] as const;

function consensusParamsFromJson(fields: Fields): ConsensusParams {
  const block = fields.object("block");
  const evidence = fields.object("evidence");
  const params: ConsensusParams = {
    block: { maxBytes: block.integer("max_bytes"), maxGas: block.integer("max_gas") },
    evidence: {
      maxAgeNumBlocks: evidence.integer("max_age_num_blocks"),
      maxAgeDuration: evidence.integer("max_age_duration"),
      maxBytes: evidence.integer("max_bytes"),
    },
    validator: {
      pubKeyTypes: fields.has("validator") ? fields.object("validator").texts("pub_key_types") : ["ed25519"],
    },
  };
  for (const [part, name] of UNSUPPORTED) {
    if (!fields.has(part) || !fields.object(part).has(name) || fields.object(part).integer(name) === 0n) continue;
    throw new Error(`consensus_params.${part}.${name} must be 0: applications of svc do not have it`);
  }
  const [problem] = consensusParamsProblems(params);
  if (problem !== undefined) throw new Error(`consensus_params.${problem}`);
  return params;
}

function validatorFromJson(fields: Fields): GenesisValidator {
  const key = fields.object("pub_key");
  if (key.text("type") !== PUBLIC_KEY_TYPE) throw new Error(`validator keys have the type ${PUBLIC_KEY_TYPE}`);
  const pubKey = fromBase64(key.text("value"));
  if (pubKey.length !== 32) throw new Error("a validator's pub_key must have 32 bytes");
  const address = consensusAddress(pubKey);
  if (fields.has("address") && toHexUpper(fromHex(fields.text("address"))) !== toHexUpper(address)) {
    throw new Error(`a validator's address must be ${toHexUpper(address)}, the address of its pub_key`);
  }
  const power = fields.integer("power");
  if (power <= 0n || power > MAX_VOTING_POWER) throw new Error("a validator's power must be positive and at most 2^60");
  return { address, pubKey, power, name: fields.has("name") ? fields.text("name", true) : "" };
}

/** The fields of a JSON object; errors name the path of the field. */
class Fields {
  readonly value: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Error(`${path === "" ? "the file" : path} must be a JSON object`);
    }
    this.value = Object.fromEntries(Object.entries(value));
    this.#path = path === "" ? "" : `${path}.`;
  }

  has(name: string): boolean {
    return this.value[name] !== undefined && this.value[name] !== null;
  }

  text(name: string, maybeEmpty = false): string {
    const value = this.value[name];
    if (typeof value !== "string" || (value === "" && !maybeEmpty))
      throw new Error(`${this.#path}${name} must be a string`);
    return value;
  }

  /** A 64-bit number, written as a text or a plain number. */
  integer(name: string): bigint {
    const value = this.value[name];
    const text = typeof value === "number" && Number.isSafeInteger(value) ? value.toString() : value;
    if (typeof text !== "string" || !/^-?\d{1,19}$/.test(text))
      throw new Error(`${this.#path}${name} must be a whole number`);
    return BigInt(text);
  }

  object(name: string): Fields {
    return new Fields(this.value[name], `${this.#path}${name}`);
  }

  texts(name: string): string[] {
    const value: unknown = this.value[name];
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw new Error(`${this.#path}${name} must be a list of strings`);
    return value;
  }

  list(name: string): Fields[] {
    const value = this.value[name] ?? [];
    if (!Array.isArray(value)) throw new Error(`${this.#path}${name} must be a list`);
    return value.map((item, i) => new Fields(item, `${this.#path}${name}[${i}]`));
  }
}
