import {
  type AppEvent,
  type ConsensusParams,
  logOf,
  type TxResult,
  type ValidatorUpdate,
} from "../../../abci/index.ts";
import {
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  type Commit,
  consensusParamsToJson,
  type FoundTx,
  formatRfc3339,
  type Header,
  type MerkleProof,
  PUBLIC_KEY_TYPE,
  type Validator,
} from "../../../engine/index.ts";
import { toBase64, toHexUpper } from "../../../util/index.ts";

/** The engine's values in the JSON of its RPC: 64-bit numbers as texts, hashes upper-case hex, bytes base64. */

export function blockIdJson({ hash, parts }: BlockId) {
  return { hash: toHexUpper(hash), parts: { total: parts.total, hash: toHexUpper(parts.hash) } };
}

export function headerJson(header: Header) {
  return {
    version: { block: BLOCK_PROTOCOL.toString() },
    chain_id: header.chainId,
    height: header.height.toString(),
    time: formatRfc3339(header.time),
    last_block_id: blockIdJson(header.lastBlockId),
    last_commit_hash: toHexUpper(header.lastCommitHash),
    data_hash: toHexUpper(header.dataHash),
    validators_hash: toHexUpper(header.validatorsHash),
    next_validators_hash: toHexUpper(header.nextValidatorsHash),
    consensus_hash: toHexUpper(header.consensusHash),
    app_hash: toHexUpper(header.appHash),
    last_results_hash: toHexUpper(header.lastResultsHash),
    evidence_hash: toHexUpper(header.evidenceHash),
    proposer_address: toHexUpper(header.proposerAddress),
  };
}

export function commitJson({ height, round, blockId, signatures }: Commit) {
  return {
    height: height.toString(),
    round,
    block_id: blockIdJson(blockId),
    signatures: signatures.map(({ flag, validatorAddress, timestamp, signature }) => ({
      block_id_flag: flag,
      validator_address: toHexUpper(validatorAddress),
      timestamp: formatRfc3339(timestamp),
      signature: toBase64(signature),
    })),
  };
}

export function blockJson({ header, txs, lastCommit }: Block) {
  return {
    header: headerJson(header),
    data: { txs: txs.map(toBase64) },
    evidence: { evidence: [] },
    last_commit: commitJson(lastCommit),
  };
}

export function eventsJson(events: readonly AppEvent[]) {
  return events.map(({ type, attributes }) => ({
    type,
    attributes: attributes.map(({ key, value, index }) => ({ key, value, index })),
  }));
}

/** A transaction's result in answers to calls. */
export function txResultJson(result: TxResult) {
  return {
    code: result.code,
    data: result.data.length === 0 ? null : toBase64(result.data),
    log: logOf(result),
    info: "",
    gas_wanted: result.gasWanted.toString(),
    gas_used: result.gasUsed.toString(),
    events: eventsJson(result.events),
    codespace: result.codespace,
  };
}

/** The result of a transaction that was never executed. */
export const NO_TX_RESULT = {
  code: 0,
  data: null,
  log: "",
  info: "",
  gas_wanted: "0",
  gas_used: "0",
  events: [],
  codespace: "",
};

export function foundTxJson({ hash, height, index, result, tx }: FoundTx) {
  return {
    hash: toHexUpper(hash),
    height: height.toString(),
    index,
    tx_result: txResultJson(result),
    tx: toBase64(tx),
  };
}

export function proofJson(proof: MerkleProof) {
  return {
    total: proof.total.toString(),
    index: proof.index.toString(),
    leaf_hash: toBase64(proof.leafHash),
    aunts: proof.aunts.map(toBase64),
  };
}

export function validatorJson({ address, pubKey, power }: Validator) {
  return {
    address: toHexUpper(address),
    pub_key: publicKeyJson(pubKey),
    voting_power: power.toString(),
    proposer_priority: "0",
  };
}

export function publicKeyJson(pubKey: Uint8Array) {
  return { type: PUBLIC_KEY_TYPE, value: toBase64(pubKey) };
}

export function validatorUpdateJson({ pubKey, power }: ValidatorUpdate) {
  return {
    pub_key: { Sum: { type: "tendermint.crypto.PublicKey_Ed25519", value: { ed25519: toBase64(pubKey) } } },
    power: power.toString(),
  };
}

/** The consensus parameters that a block changed; null for none. */
export function paramUpdatesJson(params: ConsensusParams | undefined) {
  if (params === undefined) return null;
  const { block, evidence, validator } = consensusParamsToJson(params);
  return { block, evidence, validator };
}
