import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { consensusAddress } from "../../../crypto/index.ts";
import { fromBase64, fromHex, toHexUpper } from "../../../util/index.ts";
import { decodeCommit, decodeHeader, encodeBlock, encodeCommit, encodeHeader } from "./codec.ts";
import {
  blockIdFor,
  commitHash,
  consensusParamsHash,
  dataHash,
  evidenceHash,
  headerHash,
  partSetHeader,
  resultsHash,
  txHash,
  validatorsHash,
} from "./hashes.ts";
import { parseRfc3339 } from "./time.ts";
import type { BlockId, Commit, Header } from "./types.ts";
import { verifyCommit, voteSignBytes } from "./vote.ts";

/** Blocks of a chain of the reference engine, as its JSON-RPC returned them. */
const VECTORS = new URL("../../../../test/vectors/", import.meta.url);

function recorded<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(name, VECTORS), "utf8"));
}

interface BlockIdJson {
  hash: string;
  parts: { total: number; hash: string };
}
type HeaderJson = Record<string, string> & { last_block_id: BlockIdJson };
interface CommitJson {
  height: string;
  round: number;
  block_id: BlockIdJson;
  signatures: { block_id_flag: 1 | 2 | 3; validator_address: string; timestamp: string; signature: string }[];
}

function result<T>(path: string): T {
  const answers = recorded<{ http: string; response: string }>("rpc-live-tm034.json");
  const answer = answers.find(({ http }) => http.endsWith(path));
  return JSON.parse(answer?.response ?? "").result;
}

const hex = (text: string | undefined): Uint8Array => Uint8Array.from(fromHex(text ?? ""));

function blockId({ hash, parts }: BlockIdJson): BlockId {
  return { hash: hex(hash), parts: { total: parts.total, hash: hex(parts.hash) } };
}

function header(json: HeaderJson): Header {
  return {
    chainId: json.chain_id ?? "",
    height: BigInt(json.height ?? ""),
    time: parseRfc3339(json.time ?? ""),
    lastBlockId: blockId(json.last_block_id),
    lastCommitHash: hex(json.last_commit_hash),
    dataHash: hex(json.data_hash),
    validatorsHash: hex(json.validators_hash),
    nextValidatorsHash: hex(json.next_validators_hash),
    consensusHash: hex(json.consensus_hash),
    appHash: hex(json.app_hash),
    lastResultsHash: hex(json.last_results_hash),
    evidenceHash: hex(json.evidence_hash),
    proposerAddress: hex(json.proposer_address),
  };
}

function commit(json: CommitJson): Commit {
  return {
    height: BigInt(json.height),
    round: json.round,
    blockId: blockId(json.block_id),
    signatures: json.signatures.map((sig) => ({
      flag: sig.block_id_flag,
      validatorAddress: hex(sig.validator_address),
      timestamp: parseRfc3339(sig.timestamp),
      signature: Uint8Array.from(fromBase64(sig.signature)),
    })),
  };
}

const block = result<{ block_id: BlockIdJson; block: { header: HeaderJson; last_commit: CommitJson } }>(
  "/block?height=2",
);
const second = header(block.block.header);
const signed = result<{ signed_header: { commit: CommitJson } }>("/commit?height=2");
const validators = result<{ validators: { address: string; pub_key: { value: string }; voting_power: string }[] }>(
  "/validators",
);
const set = validators.validators.map(({ address, pub_key, voting_power }) => ({
  address: hex(address),
  pubKey: fromBase64(pub_key.value),
  power: BigInt(voting_power),
}));

describe("hashes and signatures of recorded blocks", () => {
  it("finds the identity of a block, header and parts", () => {
    const encoded = encodeBlock({ header: second, txs: [], lastCommit: commit(block.block.last_commit) });
    const { hash, parts } = blockIdFor(second, encoded);
    expect({ hash: toHexUpper(hash), parts: { ...parts, hash: toHexUpper(parts.hash) } }).toEqual(block.block_id);
  });

  it("finds the hashes that the header holds", () => {
    expect(toHexUpper(validatorsHash(set))).toBe(block.block.header.validators_hash);
    expect(toHexUpper(commitHash(commit(block.block.last_commit)))).toBe(block.block.header.last_commit_hash);
    expect(toHexUpper(evidenceHash())).toBe(block.block.header.evidence_hash);
    expect(toHexUpper(dataHash([]))).toBe(block.block.header.data_hash);
    const params = {
      block: { maxBytes: 22020096n, maxGas: -1n },
      evidence: { maxAgeNumBlocks: 100000n, maxAgeDuration: 172800000000000n, maxBytes: 1048576n },
      validator: { pubKeyTypes: ["ed25519"] },
    };
    expect(toHexUpper(consensusParamsHash(params))).toBe(block.block.header.consensus_hash);
  });

  it("verifies the commits, and refuses a changed one", () => {
    const own = commit(signed.signed_header.commit);
    expect(verifyCommit("vec-1", own, set)).toBe(true);
    expect(verifyCommit("vec-1", commit(block.block.last_commit), set)).toBe(true);
    expect(verifyCommit("vec-2", own, set)).toBe(false);
    expect(verifyCommit("vec-1", { ...own, round: 1 }, set)).toBe(false);
    expect(verifyCommit("vec-1", { ...own, signatures: [] }, set)).toBe(false);
    expect(set.map(({ pubKey }) => toHexUpper(consensusAddress(pubKey)))).toEqual(
      validators.validators.map(({ address }) => address),
    );
  });

  it("takes the signature's place in the bytes into account", () => {
    const { height, blockId: id } = commit(signed.signed_header.commit);
    const bytes = voteSignBytes({ chainId: "vec-1", height, round: 0, blockId: id, timestamp: second.time });
    expect(bytes[0]).toBe(bytes.length - 1);
  });

  it("finds data and results hashes of a block with a transaction", () => {
    type TxJson = { TxResult: { tx: string; height: string; result: Record<string, string> } };
    const frames = recorded<{ result?: { data?: { type: string; value: { header: HeaderJson } & TxJson } } }>(
      "ws-live-tm034.json",
    );
    const values = (type: string) =>
      frames.flatMap(({ result }) => (result?.data?.type === `tendermint/event/${type}` ? [result.data.value] : []));
    const headers = values("NewBlockHeader");
    const [tx] = values("Tx");
    const at = (height: number) => headers.find((one) => one.header.height === String(height))?.header;
    const height = Number(tx?.TxResult.height);
    const { data = "", log = "", gas_wanted = "", gas_used = "" } = tx?.TxResult.result ?? {};
    const gas = { gasWanted: BigInt(gas_wanted), gasUsed: BigInt(gas_used) };
    const executed = { code: 0, codespace: "", data: fromBase64(data), log, events: [], ...gas };
    expect(toHexUpper(dataHash([txHash(fromBase64(tx?.TxResult.tx ?? ""))]))).toBe(at(height)?.data_hash);
    expect(toHexUpper(resultsHash([executed]))).toBe(at(height + 1)?.last_results_hash);
    expect(headers.length).toBeGreaterThan(3);
    for (const [i, { header: json }] of headers.slice(1).entries()) {
      const before = headers[i]?.header;
      if (before === undefined) throw new Error("no block before");
      expect(toHexUpper(headerHash(header(before)))).toBe(json.last_block_id.hash);
    }
  });
});

describe("the codec", () => {
  it("reads what it writes", () => {
    const own = commit(signed.signed_header.commit);
    expect(decodeHeader(encodeHeader(second))).toEqual(second);
    expect(decodeCommit(encodeCommit(own))).toEqual(own);
  });

  it("cuts long blocks into parts", () => {
    const large = new Uint8Array(200_000).fill(7);
    expect(partSetHeader(large).total).toBe(4);
    expect(partSetHeader(large.subarray(0, 65_536)).total).toBe(1);
  });
});
