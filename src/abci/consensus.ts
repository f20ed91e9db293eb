/** A change of the voters; power 0 removes a validator. */
export interface ValidatorUpdate {
  /** ed25519, 32 bytes. */
  readonly pubKey: Uint8Array;
  readonly power: bigint;
}

/** Parameters of the engine that all nodes of a chain must agree on. */
export interface ConsensusParams {
  /** `maxBytes` of -1 is the engine's own limit, `maxGas` of -1 none. */
  readonly block: { readonly maxBytes: bigint; readonly maxGas: bigint };
  /** Misbehaviour older than both ages is not evidence any more; the duration is in nanoseconds. */
  readonly evidence: { readonly maxAgeNumBlocks: bigint; readonly maxAgeDuration: bigint; readonly maxBytes: bigint };
  readonly validator: { readonly pubKeyTypes: readonly string[] };
}

/** Upper bound of a block's size in bytes, whatever the parameters say. */
export const MAX_BLOCK_BYTES = 104_857_600n;

/** Validator keys on chains of the ecosystem; our own chains use the first. */
const KEY_TYPES = ["ed25519", "secp256k1"];

/** Faults of parameters, one sentence each, by the rules of the reference engine. */
export function consensusParamsProblems({ block, evidence, validator }: ConsensusParams): string[] {
  const mostBytes = block.maxBytes === -1n ? MAX_BLOCK_BYTES : block.maxBytes;
  const { pubKeyTypes } = validator;
  const unknown = pubKeyTypes.find((type) => !KEY_TYPES.includes(type));
  const problems: readonly (readonly [wrong: boolean, problem: string])[] = [
    [
      block.maxBytes !== -1n && (block.maxBytes < 1n || block.maxBytes > MAX_BLOCK_BYTES),
      `block.max_bytes must be -1 or from 1 to ${MAX_BLOCK_BYTES}`,
    ],
    [block.maxGas < -1n, "block.max_gas must be -1 or more"],
    [evidence.maxAgeNumBlocks < 1n, "evidence.max_age_num_blocks must be positive"],
    [
      evidence.maxAgeDuration < 1n || evidence.maxAgeDuration >= 2n ** 63n,
      "evidence.max_age_duration must be positive, and less than 2^63 nanoseconds",
    ],
    [
      evidence.maxBytes < 0n || evidence.maxBytes > mostBytes,
      `evidence.max_bytes must be from 0 to the bytes of a block, ${mostBytes}`,
    ],
    [pubKeyTypes.length === 0, "validator.pub_key_types must name a type"],
    [unknown !== undefined, `validator.pub_key_types: ${JSON.stringify(unknown?.slice(0, 40))} is not a known type`],
    [
      pubKeyTypes.length > 0 && !pubKeyTypes.includes("ed25519"),
      "validator.pub_key_types must include ed25519, the type of the validators' keys",
    ],
    [new Set(pubKeyTypes).size < pubKeyTypes.length, "validator.pub_key_types names a type twice"],
  ];
  return problems.filter(([wrong]) => wrong).map(([, problem]) => problem);
}

/** Whether two sets are the same in every part. */
export function equalConsensusParams(a: ConsensusParams, b: ConsensusParams): boolean {
  return textOf(a) === textOf(b);
}

function textOf({ block, evidence, validator }: ConsensusParams): string {
  const { maxAgeNumBlocks, maxAgeDuration, maxBytes } = evidence;
  return [block.maxBytes, block.maxGas, maxAgeNumBlocks, maxAgeDuration, maxBytes, validator.pubKeyTypes].join("/");
}

/** The fields of messages that hold parameters; the duration is in seconds and nanoseconds. */
export function consensusParamsFields({ block, evidence, validator }: ConsensusParams) {
  const { maxAgeNumBlocks, maxAgeDuration, maxBytes } = evidence;
  const duration = { seconds: maxAgeDuration / SECOND, nanos: Number(maxAgeDuration % SECOND) };
  return {
    block: { ...block },
    evidence: { maxAgeNumBlocks, maxAgeDuration: duration, maxBytes },
    validator: { pubKeyTypes: [...validator.pubKeyTypes] },
  };
}

/** Fields of the message; a missing part is undefined. */
interface ConsensusParamsMessage {
  readonly block?: ConsensusParams["block"] | undefined;
  readonly evidence?:
    | {
        readonly maxAgeNumBlocks: bigint;
        readonly maxAgeDuration?: { readonly seconds: bigint; readonly nanos: number } | undefined;
        readonly maxBytes: bigint;
      }
    | undefined;
  readonly validator?: ConsensusParams["validator"] | undefined;
}

const SECOND = 1_000_000_000n;

/** The parameters in a message; undefined unless all parts are there. */
export function consensusParamsOf({ block, evidence, validator }: ConsensusParamsMessage): ConsensusParams | undefined {
  if (block === undefined || evidence === undefined || validator === undefined) return undefined;
  const { maxAgeNumBlocks, maxAgeDuration, maxBytes } = evidence;
  const { seconds = 0n, nanos = 0 } = maxAgeDuration ?? {};
  return {
    block: { maxBytes: block.maxBytes, maxGas: block.maxGas },
    evidence: { maxAgeNumBlocks, maxAgeDuration: seconds * SECOND + BigInt(nanos), maxBytes },
    validator: { pubKeyTypes: [...validator.pubKeyTypes] },
  };
}

/** Gas of a block of a new chain, so that a full one takes about a second of CPU time (`npm run bench -- gas`). */
export const DEFAULT_MAX_GAS = 30_000_000n;

/** The parameters of a new chain. */
export const DEFAULT_CONSENSUS_PARAMS: ConsensusParams = {
  block: { maxBytes: 22_020_096n, maxGas: DEFAULT_MAX_GAS },
  evidence: { maxAgeNumBlocks: 100_000n, maxAgeDuration: 172_800_000_000_000n, maxBytes: 1_048_576n },
  validator: { pubKeyTypes: ["ed25519"] },
};
