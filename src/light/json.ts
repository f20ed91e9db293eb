import * as v from "valibot";
import { fromBase64, fromHex, toBase64, toHexUpper } from "../util/index.ts";
import {
  type BlockId,
  type Commit,
  formatTimestamp,
  fromNanos,
  parseTimestamp,
  toNanos,
  type Validator,
} from "../wire/index.ts";
import type { LightHeader, SignedHeader } from "./block.ts";
import { lightErrors } from "./errors.ts";
import type { AttackEvidence } from "./evidence.ts";

/** Blocks in the JSON of a node's RPC: 64-bit numbers as texts, hashes upper-case hex, keys and signatures base64. */

const KEY_TYPE = "tendermint/PubKeyEd25519";

const int64 = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.safeInteger())]),
  v.transform((value) => String(value)),
  v.regex(/^-?\d{1,19}$/),
  v.transform((value) => BigInt(value)),
);
const int32 = v.pipe(v.number(), v.safeInteger());
const hex = v.pipe(
  v.nullish(v.string(), ""),
  v.regex(/^(?:[0-9a-fA-F]{2})*$/),
  v.transform((text) => new Uint8Array(fromHex(text))),
);
const base64 = v.pipe(
  v.nullish(v.string(), ""),
  v.check((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)),
  v.transform((text) => new Uint8Array(fromBase64(text))),
);
const time = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const instant = parseTimestamp(dataset.value);
    if (instant !== undefined) return toNanos(instant);
    addIssue({ message: "not a time" });
    return NEVER;
  }),
);
const blockId = v.object({ hash: hex, parts: v.object({ total: int32, hash: hex }) });

const header = v.object({
  version: v.object({ block: v.nullish(int64, "0"), app: v.nullish(int64, "0") }),
  chain_id: v.string(),
  height: int64,
  time,
  last_block_id: blockId,
  last_commit_hash: hex,
  data_hash: hex,
  validators_hash: hex,
  next_validators_hash: hex,
  consensus_hash: hex,
  app_hash: hex,
  last_results_hash: hex,
  evidence_hash: hex,
  proposer_address: hex,
});

const commitSig = v.object({
  block_id_flag: v.picklist([1, 2, 3]),
  validator_address: hex,
  timestamp: time,
  signature: base64,
});

const commit = v.object({
  height: int64,
  round: int32,
  block_id: blockId,
  signatures: v.array(commitSig),
});

const signedHeader = v.object({ header, commit });

const validator = v.object({
  address: hex,
  pub_key: v.object({ type: v.literal(KEY_TYPE), value: base64 }),
  voting_power: int64,
});

/** Reads the `signed_header` of a node's answer to `commit`. Throws `lightErrors.badBlock`, which names the field. */
export function readSignedHeader(json: unknown): SignedHeader {
  const { header: read, commit: votes } = parse(signedHeader, json, "the signed header");
  return { header: headerOf(read), commit: commitOf(votes) };
}

/** Reads the `validators` of a node's answer. Throws `lightErrors.badBlock`, which names the field. */
export function readValidators(json: unknown): readonly Validator[] {
  const rows = parse(v.array(validator), json, "the set of validators");
  return rows.map(({ address, pub_key: { value: pubKey }, voting_power: power }) => ({ address, pubKey, power }));
}

function parse<T extends v.GenericSchema>(schema: T, json: unknown, what: string): v.InferOutput<T> {
  const result = v.safeParse(schema, json);
  if (result.success) return result.output;
  throw lightErrors.badBlock(`${what} has no readable ${v.getDotPath(result.issues[0]) ?? "content"}`);
}

function headerOf(read: v.InferOutput<typeof header>): LightHeader {
  return {
    version: read.version,
    chainId: read.chain_id,
    height: read.height,
    time: read.time,
    lastBlockId: read.last_block_id,
    lastCommitHash: read.last_commit_hash,
    dataHash: read.data_hash,
    validatorsHash: read.validators_hash,
    nextValidatorsHash: read.next_validators_hash,
    consensusHash: read.consensus_hash,
    appHash: read.app_hash,
    lastResultsHash: read.last_results_hash,
    evidenceHash: read.evidence_hash,
    proposerAddress: read.proposer_address,
  };
}

function commitOf({ height, round, block_id, signatures }: v.InferOutput<typeof commit>): Commit {
  const votes = signatures.map(({ block_id_flag: flag, validator_address, timestamp, signature }) => ({
    flag,
    validatorAddress: validator_address,
    timestamp,
    signature,
  }));
  return { height, round, blockId: block_id, signatures: votes };
}

/** The form that `readSignedHeader` reads. */
export function signedHeaderJson({ header: written, commit: votes }: SignedHeader) {
  return { header: headerJson(written), commit: commitJson(votes) };
}

function headerJson(written: LightHeader) {
  const { version } = written;
  return {
    version: { block: version.block.toString(), ...(version.app === 0n ? {} : { app: version.app.toString() }) },
    chain_id: written.chainId,
    height: written.height.toString(),
    time: timeText(written.time),
    last_block_id: blockIdJson(written.lastBlockId),
    last_commit_hash: toHexUpper(written.lastCommitHash),
    data_hash: toHexUpper(written.dataHash),
    validators_hash: toHexUpper(written.validatorsHash),
    next_validators_hash: toHexUpper(written.nextValidatorsHash),
    consensus_hash: toHexUpper(written.consensusHash),
    app_hash: toHexUpper(written.appHash),
    last_results_hash: toHexUpper(written.lastResultsHash),
    evidence_hash: toHexUpper(written.evidenceHash),
    proposer_address: toHexUpper(written.proposerAddress),
  };
}

function commitJson({ height, round, blockId: id, signatures }: Commit) {
  return {
    height: height.toString(),
    round,
    block_id: blockIdJson(id),
    signatures: signatures.map(({ flag, validatorAddress, timestamp, signature }) => ({
      block_id_flag: flag,
      validator_address: toHexUpper(validatorAddress),
      timestamp: timeText(timestamp),
      signature: signature.length === 0 ? null : toBase64(signature),
    })),
  };
}

function blockIdJson({ hash, parts }: BlockId) {
  return { hash: toHexUpper(hash), parts: { total: parts.total, hash: toHexUpper(parts.hash) } };
}

function timeText(nanos: bigint): string {
  return formatTimestamp(fromNanos(nanos));
}

/** The form that `readValidators` reads. */
export function validatorsJson(validators: readonly Validator[]) {
  return validators.map(({ address, pubKey, power }) => ({
    address: toHexUpper(address),
    pub_key: { type: KEY_TYPE, value: toBase64(pubKey) },
    voting_power: power.toString(),
    proposer_priority: "0",
  }));
}

/** The form that the engine's `broadcast_evidence` takes. */
export function evidenceJson({ conflictingBlock, commonHeight, byzantine, totalPower, time: at }: AttackEvidence) {
  const validators = validatorsJson(conflictingBlock.validators);
  return {
    type: "tendermint/LightClientAttackEvidence",
    value: {
      ConflictingBlock: {
        signed_header: signedHeaderJson(conflictingBlock),
        validator_set: { validators, proposer: validators[0] },
      },
      CommonHeight: commonHeight.toString(),
      ByzantineValidators: validatorsJson(byzantine),
      TotalVotingPower: totalPower.toString(),
      Timestamp: timeText(at),
    },
  };
}
