import { channel } from "node:diagnostics_channel";
import {
  type Application,
  type BlockPlace,
  type ConsensusParams,
  type FinalizeBlockResult,
  MAX_BLOCK_BYTES,
  type TxResult,
  type VoteInfo,
} from "../../abci/index.ts";
import type { Database, Write } from "../../store/index.ts";
import { type Clock, equalBytes, toHex } from "../../util/index.ts";
import { engineErrors } from "../errors.ts";
import { type Genesis, type GenesisHead, genesisHash, genesisHead } from "../genesis.ts";
import type { ExecutedBlock, SignedBlock } from "./blocks/block-records.ts";
import {
  aheadWrite,
  type BlockStore,
  blockWrites,
  genesisWrite,
  paramsWrite,
  replayWrite,
} from "./blocks/block-store.ts";
import { EncodedTxResult, encodeBlock } from "./blocks/codec.ts";
import {
  blockIdFor,
  commitHash,
  consensusParamsHash,
  dataHash,
  evidenceHash,
  headerHash,
  resultsHash,
  txHash,
  validatorsHash,
} from "./blocks/hashes.ts";
import {
  type Block,
  type BlockId,
  type Commit,
  type Header,
  NO_BLOCK_ID,
  NO_COMMIT,
  type Validator,
} from "./blocks/types.ts";
import { applyUpdates, setWrites, type ValidatorSets, validatorOf } from "./blocks/validator-sets.ts";
import { verifyCommit } from "./blocks/vote.ts";
import type { CommittedBlock } from "./events.ts";
import { IndexedTerms, type TxIndex } from "./index/tx-index.ts";
import type { Mempool } from "./mempool/mempool.ts";
import { OldBlocks, type Retention, retainHeight } from "./retain.ts";
import { nanoseconds } from "./schedule.ts";
import type { Signer } from "./signer.ts";

export interface ProducerParts {
  readonly app: Application;
  readonly blocks: BlockStore;
  readonly index: TxIndex;
  readonly mempool: Mempool;
  /** Undefined = the blocks are another node's. */
  readonly signer: Signer | undefined;
  readonly genesis: Genesis;
  readonly clock: Clock;
  readonly database: Pick<Database, "table">;
  readonly retention: Retention;
}

/** The state on which the next block builds. */
interface Tip {
  readonly height: bigint;
  readonly time: bigint;
  readonly blockId: BlockId;
  readonly commit: Commit;
  readonly appHash: Uint8Array;
  readonly resultsHash: Uint8Array;
}

/** The next block, with its votes if they were already given. */
interface Proposed {
  readonly block: Block;
  readonly txHashes: readonly Uint8Array[];
  readonly votes: Commit | undefined;
}

/** Benchmarks learn here which step of a block is done. */
const STEPS = channel("svc.block");
const MILLISECOND = 1_000_000n;
/** Room kept free in a block for everything that is not a transaction. */
const BLOCK_OVERHEAD = 2_048;
/** Places of transactions in the index leave no room for more. */
const MAX_BLOCK_TXS = 100_000;

/** Bytes of a block that its transactions may take, each with its tag and length. */
export function roomForTxs({ block: { maxBytes } }: ConsensusParams): number {
  return Math.max(0, Number(maxBytes === -1n ? MAX_BLOCK_BYTES : maxBytes) - BLOCK_OVERHEAD);
}

/** Makes blocks, one call each; every block is durable when the call returns. */
export class Producer {
  readonly #parts: Omit<ProducerParts, "genesis">;
  readonly #genesis: GenesisHead;
  readonly #oldBlocks: OldBlocks;
  #tip: Tip;
  /** The sets of the last block, of the next one and of the one after it. */
  #last: ValidatorSets = { signers: [], voters: [] };
  #current: ValidatorSets;
  #next: ValidatorSets;
  /** Parameters of the next block. */
  #params: ConsensusParams;
  /** While nothing is stored yet. */
  #genesisHash: Uint8Array | undefined;
  /** A block that was rolled back; it is executed again unchanged. */
  #replay: SignedBlock | undefined;
  /** A block of another node, or of a snapshot; it is executed unchanged, after the one that was rolled back. */
  #ahead: SignedBlock | undefined;

  constructor({ genesis, ...parts }: ProducerParts) {
    this.#parts = parts;
    this.#genesis = genesisHead(genesis);
    const { blocks, index, database } = parts;
    this.#oldBlocks = new OldBlocks({ tables: database, blocks, index });
    const last = blocks.last;
    this.#replay = blocks.replay;
    this.#params = blocks.consensusParams(blocks.height + 1n) ?? genesis.consensusParams;
    if (last === undefined) {
      const { tip, sets } = this.#initChain(genesis);
      this.#tip = tip;
      this.#current = sets;
      this.#next = sets;
      this.#genesisHash = genesisHash(genesis);
    } else {
      const { header, commit, appHash } = last;
      const results = resultsHash(blocks.txs(header.height).map(({ result }) => result));
      this.#tip = {
        height: header.height,
        time: voteTime(commit),
        blockId: commit.blockId,
        commit,
        appHash,
        resultsHash: results,
      };
      this.#last = this.#storedSets(header.height);
      this.#current = this.#storedSets(header.height + 1n);
      this.#next = this.#storedSets(header.height + 2n);
      this.#ahead = blocks.ahead(header.height + (this.#replay === undefined ? 1n : 2n));
    }
  }

  /** Whether blocks that came with a snapshot are still to come. */
  get isBehind(): boolean {
    return this.#ahead !== undefined;
  }

  /** Signers of the next block. */
  get validators(): readonly Validator[] {
    return this.#current.signers;
  }

  /** Voters of the next two blocks whose keys are not here: they are reported as absent. */
  get absent(): readonly Validator[] {
    const { pubKey: publicKey } = this.#proposer;
    const voters = [...this.#current.voters, ...this.#next.voters];
    const others = voters.filter(({ pubKey }) => !equalBytes(pubKey, publicKey));
    return [...new Map(others.map((voter) => [toHex(voter.pubKey), voter])).values()];
  }

  /** The only signer of the next block. */
  get #proposer(): Validator {
    const [only] = this.#current.signers;
    if (only === undefined) throw new Error("a chain has a validator");
    return only;
  }

  /** Takes the next block from another node. Throws `engine/17` where it does not follow the state here. */
  take(block: SignedBlock): void {
    this.#ahead = block;
  }

  /** Parameters of consensus of the next block. */
  get params(): ConsensusParams {
    return this.#params;
  }

  /** Proposes, signs, executes and commits the next block with at most `maxTxs` transactions. */
  produce(maxTxs: number): CommittedBlock {
    const { app, blocks, index, mempool } = this.#parts;
    tell("begun");
    const { block, txHashes, votes } = this.#replayed() ?? this.#caughtUp() ?? this.#propose(maxTxs);
    const encoded = encodeBlock(block);
    const commit = votes ?? this.#sign(block.header, blockIdFor(block.header, encoded));
    tell("signed");
    const terms = new IndexedTerms();
    const result = this.#execute(block, commit.blockId, terms);
    tell("executed");
    const executed = { ...result, block, commit, size: encoded.length };
    const { txResults } = executed;
    const sets = applyUpdates(this.#next, result.validatorUpdates);
    const brought = [...blockWrites(executed), ...index.writes(executed, txHashes, terms)];
    const { base, writes } = this.#oldBlocks.writes(this.#retained(block.header.height), brought.length);
    tell("encoded");
    const touched = app.commit([...brought, ...this.#chainWrites(executed, sets), ...writes]);
    tell("durable");
    blocks.committed(executed, base === 0n ? block.header.height : base);
    this.#advance(executed, sets);
    const { height } = block.header;
    mempool.committed({ height, hashes: txHashes, results: txResults, touched });
    tell("done", txHashes.length);
    return { ...executed, txHashes };
  }

  /**
   * The first block to keep after a block. The last but one stays, because the last one can be rolled back.
   */
  #retained(height: bigint): bigint {
    return retainHeight(height, this.#parts.retention, this.#params.evidence.maxAgeNumBlocks);
  }

  #initChain(genesis: Genesis): { tip: Tip; sets: ValidatorSets } {
    const { app, signer } = this.#parts;
    const { chainId, time, initialHeight, appState, consensusParams } = genesis;
    const { validators } = genesis;
    const result = app.initChain({ chainId, time, initialHeight, validators, consensusParams, appState });
    this.#params = result.consensusParams ?? consensusParams;
    const nothing = { blockId: NO_BLOCK_ID, commit: NO_COMMIT, resultsHash: resultsHash([]) };
    const voters = result.validators.length === 0 ? validators : result.validators.map(validatorOf);
    const own = voters.filter(({ pubKey }) => signer === undefined || equalBytes(pubKey, signer.publicKey));
    const sets = { voters, signers: own.length === 0 ? validators : own };
    return { tip: { height: initialHeight - 1n, time, appHash: result.appHash, ...nothing }, sets };
  }

  #storedSets(height: bigint): ValidatorSets {
    const { blocks } = this.#parts;
    const [signers, voters] = [blocks.validators(height), blocks.voters(height)];
    if (signers === undefined || voters === undefined) throw new Error("the stored blocks lack their validators");
    return { signers, voters };
  }

  /** The block that was rolled back, which already has its votes. */
  #replayed(): Proposed | undefined {
    if (this.#replay === undefined) return undefined;
    const { header, commit, txs } = this.#replay;
    const { height, blockId, appHash } = this.#tip;
    if (header.height !== height + 1n || !equalBytes(header.lastBlockId.hash, blockId.hash))
      throw new Error(`block ${header.height} was rolled back, but it does not follow block ${height}`);
    if (!equalBytes(header.appHash, appHash))
      throw new Error(`block ${header.height} was rolled back, but it is over another state`);
    return { block: { header, txs, lastCommit: this.#tip.commit }, txHashes: txs.map(txHash), votes: commit };
  }

  /** The block that came with a snapshot. Throws unless it is the one that must come here, with its votes. */
  #caughtUp(): Proposed | undefined {
    if (this.#ahead === undefined) return undefined;
    const { header, commit, txs } = this.#ahead;
    const txHashes = txs.map(txHash);
    const block = { header, txs, lastCommit: this.#tip.commit };
    const { hash, parts } = blockIdFor(header, encodeBlock(block));
    const isRight =
      equalBytes(headerHash(this.#header(txHashes)), hash) &&
      equalBytes(hash, commit.blockId.hash) &&
      equalBytes(parts.hash, commit.blockId.parts.hash) &&
      commit.height === header.height &&
      verifyCommit(header.chainId, commit, this.#current.signers);
    if (!isRight)
      throw engineErrors.otherBlock(`block ${header.height} of the node is not the one after ${this.#tip.height}`);
    return { block, txHashes, votes: commit };
  }

  #propose(maxTxs: number): Proposed {
    const { app, mempool } = this.#parts;
    const height = this.#tip.height + 1n;
    const { time } = this.#tip;
    const maxBytes = roomForTxs(this.#params);
    const { maxGas } = this.#params.block;
    const reaped = mempool.reap({ maxTxs: Math.min(maxTxs, MAX_BLOCK_TXS), maxBytes, maxGas });
    const known = new Map(reaped.map(({ tx, hash }) => [tx, hash]));
    const txs = app.prepareProposal({ ...this.#place(height, time), txs: reaped.map(({ tx }) => tx), maxBytes });
    const txHashes = txs.map((tx) => known.get(tx) ?? txHash(tx));
    const header = this.#header(txHashes);
    if (!app.processProposal({ ...this.#place(height, time), txs, hash: headerHash(header) }))
      throw new Error(`the application refuses its own block ${height}`);
    return { block: { header, txs, lastCommit: this.#tip.commit }, txHashes, votes: undefined };
  }

  /** The block's context for the application. A single signer has no other to accuse. */
  #place(height: bigint, time: bigint): BlockPlace {
    const { commit } = this.#tip;
    return {
      height,
      time,
      proposer: this.#proposer.address,
      nextValidatorsHash: validatorsHash(this.#next.signers),
      lastCommit: { round: commit.round, votes: this.#votes(commit) },
      misbehavior: [],
    };
  }

  /** The votes in a commit: a voter without a signature there is absent. The first block carries no votes. */
  #votes({ signatures }: Commit): VoteInfo[] {
    if (signatures.length === 0) return [];
    return this.#last.voters.map(({ address, power }) => {
      const vote = signatures.find(({ validatorAddress }) => equalBytes(validatorAddress, address));
      return { flag: vote?.flag ?? 1, validator: { address, power } };
    });
  }

  #header(txHashes: readonly Uint8Array[]): Header {
    const { height, time, blockId, commit, appHash } = this.#tip;
    return {
      chainId: this.#genesis.chainId,
      height: height + 1n,
      time,
      lastBlockId: blockId,
      lastCommitHash: commitHash(commit),
      dataHash: dataHash(txHashes),
      validatorsHash: validatorsHash(this.#current.signers),
      nextValidatorsHash: validatorsHash(this.#next.signers),
      consensusHash: consensusParamsHash(this.#params),
      appHash,
      lastResultsHash: this.#tip.resultsHash,
      evidenceHash: evidenceHash(),
      proposerAddress: this.#proposer.address,
    };
  }

  /** The vote is later than the block; its time becomes the next block's, so times strictly increase. */
  #sign({ chainId, height, time }: Header, blockId: BlockId): Commit {
    const { signer, clock } = this.#parts;
    if (signer === undefined) throw new Error("the blocks of this chain are another node's");
    const round = signer.roundFor(height);
    const now = nanoseconds(clock);
    const timestamp = now > time ? now : time + MILLISECOND;
    const signature = signer.sign({ chainId, height, round, blockId, timestamp });
    return {
      height,
      round,
      blockId,
      signatures: [{ flag: 2, validatorAddress: signer.address, timestamp, signature }],
    };
  }

  /** Encodes each result, and notes its terms of the index, before the next transaction is executed. */
  #execute(block: Block, blockId: BlockId, terms: IndexedTerms): FinalizeBlockResult {
    const { height, time } = block.header;
    const keep = (result: TxResult, index: number) => {
      terms.add(result.events, index);
      return new EncodedTxResult(result);
    };
    const request = { ...this.#place(height, time), txs: block.txs, hash: blockId.hash, keep };
    const result = this.#parts.app.finalizeBlock(request);
    if (result.txResults.length !== block.txs.length) {
      throw new Error(`the application gave ${result.txResults.length} results for ${block.txs.length} transactions`);
    }
    return result;
  }

  /** Values that seldom change: the genesis, and voters and parameters from a height on. */
  #chainWrites({ block, consensusParamUpdates: params }: ExecutedBlock, sets: ValidatorSets): Write[] {
    const { height } = block.header;
    const hash = this.#genesisHash;
    const first = [...setWrites(height, this.#current), paramsWrite(height, this.#params)];
    const begun = hash === undefined ? [] : [genesisWrite(hash), ...first];
    const replayed = this.#replay === undefined ? [] : [replayWrite(undefined)];
    if (this.#ahead !== undefined) replayed.push(aheadWrite(height, undefined));
    const changed = params === undefined ? [] : [paramsWrite(height + 1n, params)];
    return [...begun, ...replayed, ...changed, ...(sets === this.#next ? [] : setWrites(height + 2n, sets))];
  }

  #advance({ block, commit, appHash, txResults, consensusParamUpdates }: ExecutedBlock, sets: ValidatorSets): void {
    const { height } = block.header;
    this.#tip = {
      height,
      time: voteTime(commit),
      blockId: commit.blockId,
      commit,
      appHash,
      resultsHash: resultsHash(txResults),
    };
    this.#last = this.#current;
    this.#current = this.#next;
    this.#next = sets;
    this.#params = consensusParamUpdates ?? this.#params;
    this.#genesisHash = undefined;
    this.#replay = undefined;
    this.#ahead = this.#ahead && this.#parts.blocks.ahead(height + 1n);
  }
}

function tell(step: string, txs?: number): void {
  if (STEPS.hasSubscribers) STEPS.publish({ step, txs });
}

/** The time of the block after a commit: the time of its only vote. */
function voteTime({ signatures }: Commit): bigint {
  const [vote] = signatures;
  if (vote === undefined) throw new Error("a stored commit has no vote");
  return vote.timestamp;
}
