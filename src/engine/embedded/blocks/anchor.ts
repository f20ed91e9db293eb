import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { ConsensusParams, TxResult } from "../../../abci/index.ts";
import type { Write } from "../../../store/index.ts";
import { equalBytes, errorText, SvcError } from "../../../util/index.ts";
import { type Genesis, type GenesisHead, genesisHash } from "../../genesis.ts";
import {
  type BlockRecord,
  decodeRecord,
  decodeSigned,
  decodeValidators,
  encodeRecord,
  encodeValidators,
  type SignedBlock,
} from "./block-records.ts";
import { type BlockReader, baseWrite, blockWrites, genesisWrite, paramsWrite, recordWrite } from "./block-store.ts";
import { decodeTxResult, encodeBlock, encodeTxResult } from "./codec.ts";
import {
  blockIdFor,
  commitHash,
  consensusParamsHash,
  dataHash,
  headerHash,
  resultsHash,
  txHash,
  validatorsHash,
} from "./hashes.ts";
import type { ExecutedTx } from "./tx-rows.ts";
import { type Block, type Header, NO_COMMIT, type Validator } from "./types.ts";
import { setWrites } from "./validator-sets.ts";
import { verifyCommit } from "./vote.ts";

/** The signers of a block, and the application's voters on it. */
interface Sets {
  readonly signers: readonly Validator[];
  readonly voters: readonly Validator[];
}

/** The data that an engine needs to continue after a height without earlier blocks. */
export interface Anchor {
  /** The block before, for the votes on it; undefined for the first of a chain. */
  readonly before: BlockRecord | undefined;
  readonly record: BlockRecord;
  readonly txs: readonly ExecutedTx[];
  /** Sets of the height and of the next two. */
  readonly sets: readonly Sets[];
}

const SETS = 3;
/** A transaction has at least one byte, and its result more. */
const MAX_TXS = 200_000;

/** The anchor of a height; undefined if the height is not stored. */
export function anchorAt(blocks: BlockReader, height: bigint): Anchor | undefined {
  const record = blocks.record(height);
  const sets = Array.from({ length: SETS }, (_, i) => height + BigInt(i)).flatMap((at) => {
    const [signers, voters] = [blocks.validators(at), blocks.voters(at)];
    return signers === undefined || voters === undefined ? [] : [{ signers, voters }];
  });
  if (record === undefined || sets.length !== SETS) return undefined;
  return { before: blocks.recordBefore(height), record, txs: blocks.txs(height), sets };
}

export function encodeAnchor({ before, record, txs, sets }: Anchor): Uint8Array {
  const writer = new BinaryWriter();
  writer.bytes(before === undefined ? new Uint8Array(0) : encodeRecord(before)).bytes(encodeRecord(record));
  for (const { signers, voters } of sets) writer.bytes(encodeValidators(signers)).bytes(encodeValidators(voters));
  for (const { tx, result } of txs) writer.bytes(new BinaryWriter().bytes(tx).bytes(encodeTxResult(result)).finish());
  return writer.finish();
}

/** Throws `engine/6` for bytes that are not an anchor. */
export function decodeAnchor(bytes: Uint8Array): Anchor {
  return readable(() => {
    const reader = new BinaryReader(bytes);
    const before = reader.bytes();
    const record = decodeRecord(reader.bytes());
    const sets = Array.from({ length: SETS }, () => ({
      signers: decodeValidators(reader.bytes()),
      voters: decodeValidators(reader.bytes()),
    }));
    const txs: ExecutedTx[] = [];
    while (reader.pos < reader.len) {
      if (txs.length >= MAX_TXS) throw new Error("it has too many transactions");
      txs.push(decodeExecuted(reader.bytes()));
    }
    return { before: before.length === 0 ? undefined : decodeRecord(before), record, txs, sets };
  });
}

function decodeExecuted(bytes: Uint8Array): ExecutedTx {
  const reader = new BinaryReader(bytes);
  return { tx: reader.bytes(), result: decodeTxResult(reader.bytes()) };
}

/** Throws `engine/6` for bytes that are not a block. */
export function decodeSignedBlock(bytes: Uint8Array): SignedBlock {
  return readable(() => decodeSigned(bytes));
}

/** Values that the blocks of a snapshot are compared with. */
export interface AnchorTrust {
  readonly genesis: Genesis;
  /** The key that signs the blocks of this home. */
  readonly publicKey: Uint8Array;
  /** A header that the caller knows. */
  readonly header?: { readonly height: bigint; readonly hash: Uint8Array } | undefined;
}

export interface VerifiedAnchor {
  /**
   * The anchor without the parts that no hash covers: events, logs, and other parts of results that are not in a
   * header.
   */
  readonly anchor: Anchor;
  /** Header of the block after the height: it holds the app hash of the height. */
  readonly next: Header;
  /** Height of the last block that follows. */
  readonly lastHeight: bigint;
}

/**
 * The app hash of an anchor's height. It is in the header of the next block, which the home's own key signed; all
 * blocks must follow each other from the anchor on. Throws `engine/6` with the mismatch.
 */
export function verifyAnchor(anchor: Anchor, following: Iterable<SignedBlock>, trust: AnchorTrust): VerifiedAnchor {
  return readable(() => {
    const { genesis, publicKey, header: known } = trust;
    checkAnchor(anchor, genesis, publicKey);
    let isKnown = known === undefined || isTrusted(anchor.record.header, known);
    let last: Pick<SignedBlock, "header" | "commit"> = anchor.record;
    let next: Header | undefined;
    for (const block of following) {
      checkFollowing(last, block, anchor.sets[next === undefined ? 1 : 2]?.signers ?? []);
      if (known !== undefined && isTrusted(block.header, known)) isKnown = true;
      next ??= block.header;
      last = block;
    }
    if (next === undefined) throw new Error("the block behind its height is missing");
    if (!isKnown) throw new Error(`it has no block ${known?.height}, whose hash is given`);
    need(equalBytes(next.lastResultsHash, resultsHash(anchor.txs.map(({ result }) => result))), "results");
    need(equalBytes(next.nextValidatorsHash, validatorsHash(anchor.sets[2]?.signers ?? [])), "validators");
    return { anchor: hashedPart(anchor, next), next, lastHeight: last.header.height };
  });
}

/** Throws where the header of the height has another hash. */
function isTrusted(header: Header, known: { readonly height: bigint; readonly hash: Uint8Array }): boolean {
  if (header.height !== known.height) return false;
  need(equalBytes(headerHash(header), known.hash), `trusted hash of block ${known.height}`);
  return true;
}

function checkAnchor({ before, record, txs, sets }: Anchor, genesis: GenesisHead, publicKey: Uint8Array): void {
  const { header, commit } = record;
  need(header.chainId === genesis.chainId, `chain: it is of ${header.chainId}`);
  for (const { signers } of sets)
    need(signers.length === 1 && equalBytes(signers[0]?.pubKey ?? new Uint8Array(0), publicKey), "validator's key");
  need(equalBytes(header.validatorsHash, validatorsHash(sets[0]?.signers ?? [])), "validators");
  need(equalBytes(header.nextValidatorsHash, validatorsHash(sets[1]?.signers ?? [])), "validators");
  need(equalBytes(header.dataHash, dataHash(txs.map(({ tx }) => txHash(tx)))), "transactions");
  need(record.txCount === txs.length, "transactions");
  need(verifyCommit(header.chainId, commit, sets[0]?.signers ?? []), "votes");
  const { hash, parts } = blockIdFor(header, encodeBlock(blockOf({ before, record, txs })));
  need(equalBytes(hash, commit.blockId.hash) && commit.height === header.height, "header");
  need(equalBytes(parts.hash, commit.blockId.parts.hash), "votes on the block before");
  if (before === undefined) {
    need(header.height === genesis.initialHeight, "block before");
    return;
  }
  need(equalBytes(headerHash(before.header), header.lastBlockId.hash), "block before");
  need(equalBytes(commitHash(before.commit), header.lastCommitHash), "votes on the block before");
}

type AnchorBlock = Pick<Anchor, "before" | "record" | "txs">;

function blockOf({ before, record, txs }: AnchorBlock): Block {
  return { header: record.header, txs: txs.map(({ tx }) => tx), lastCommit: before?.commit ?? NO_COMMIT };
}

function hashedPart({ before, record, txs, sets }: Anchor, next: Header): Anchor {
  const nothing = { txCount: 0, events: [], validatorUpdates: [], consensusParamUpdates: undefined };
  const plain = { header: record.header, commit: record.commit, appHash: next.appHash };
  const size = encodeBlock(blockOf({ before, record, txs })).length;
  return {
    before: before && {
      ...nothing,
      ...{ header: before.header, commit: before.commit, size: 0, appHash: record.header.appHash },
    },
    record: { ...nothing, ...plain, size, txCount: txs.length },
    txs: txs.map(({ tx, result }) => ({ tx, result: hashedResult(result) })),
    sets,
  };
}

/** The fields over which the header of the next block has a hash. */
function hashedResult({ code, data, gasWanted, gasUsed }: TxResult): TxResult {
  return { code, data, gasWanted, gasUsed, log: "", events: [], codespace: "" };
}

function checkFollowing(
  last: Pick<SignedBlock, "header" | "commit">,
  { header, commit, txs }: SignedBlock,
  signers: readonly Validator[],
): void {
  const what = `block ${header.height}`;
  need(header.height === last.header.height + 1n && header.chainId === last.header.chainId, what);
  need(equalBytes(header.lastBlockId.hash, headerHash(last.header)), what);
  need(equalBytes(header.lastCommitHash, commitHash(last.commit)), what);
  need(equalBytes(header.dataHash, dataHash(txs.map(txHash))), what);
  const { hash, parts } = blockIdFor(header, encodeBlock({ header, txs, lastCommit: last.commit }));
  need(equalBytes(hash, commit.blockId.hash) && equalBytes(parts.hash, commit.blockId.parts.hash), what);
  // The power of a single signer may change later, and decides nothing.
  need(commit.height === header.height && verifyCommit(header.chainId, commit, signers), what);
}

function need(holds: boolean, what: string): void {
  if (!holds) throw new Error(`it does not fit its ${what}`);
}

/** Whether a header is of a block with these parameters of consensus. */
export function hasParams(header: Header, params: ConsensusParams): boolean {
  return equalBytes(header.consensusHash, consensusParamsHash(params));
}

export interface AnchorBeginning {
  readonly genesis: Genesis;
  /** Parameters of the block after the height. */
  readonly params: ConsensusParams;
}

/** Writes of an engine that continues after an anchor. */
export function anchorWrites(anchor: Anchor, { genesis, params }: AnchorBeginning): Write[] {
  const { before, record, txs, sets } = anchor;
  const { height } = record.header;
  const isChanged = !hasParams(record.header, params);
  const executed = { ...record, block: blockOf(anchor), txResults: txs.map(({ result }) => result) };
  return [
    ...(before === undefined ? [] : [recordWrite(before)]),
    ...blockWrites(executed),
    ...sets.flatMap((each, i) => setWrites(height + BigInt(i), each)),
    paramsWrite(isChanged ? height + 1n : height, params),
    genesisWrite(genesisHash(genesis)),
    baseWrite(height),
  ];
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SvcError("engine", 6, `the blocks of the snapshot cannot be used: ${errorText(cause)}`, {
      hint: "get the snapshot again from a node that you trust; the home needs the genesis file and the validator key of its chain",
      cause,
    });
  }
}
