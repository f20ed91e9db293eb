import type {
  Application,
  BlockPlace,
  ConsensusParams,
  FinalizeBlockResult,
  ValidatorUpdate,
  VoteInfo,
} from "../../abci/index.ts";
import { consensusAddress } from "../../crypto/index.ts";
import type { Write } from "../../store/index.ts";
import type { Clock } from "../../util/index.ts";
import { type Genesis, type GenesisHead, genesisHash, genesisHead } from "../genesis.ts";
import { type BlockStore, blockWrites, type ExecutedBlock, genesisWrite, validatorsWrite } from "./blockstore.ts";
import { encodeBlock } from "./codec.ts";
import type { CommittedBlock } from "./events.ts";
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
} from "./hashes.ts";
import type { Mempool } from "./mempool/mempool.ts";
import { nanoseconds } from "./schedule.ts";
import type { Signer } from "./signer.ts";
import type { TxIndex } from "./txindex.ts";
import { type Block, type BlockId, type Commit, type Header, NO_BLOCK_ID, NO_COMMIT, type Validator } from "./types.ts";

export interface ProducerParts {
  readonly app: Application;
  readonly blocks: BlockStore;
  readonly index: TxIndex;
  readonly mempool: Mempool;
  readonly signer: Signer;
  readonly genesis: Genesis;
  readonly clock: Clock;
}

/** What the next block builds on. */
interface Tip {
  readonly height: bigint;
  readonly time: bigint;
  readonly blockId: BlockId;
  readonly commit: Commit;
  readonly appHash: Uint8Array;
  readonly resultsHash: Uint8Array;
}

const MILLISECOND = 1_000_000n;
/** Room kept free in a block for everything that is not a transaction. */
const BLOCK_OVERHEAD = 2_048;
const MAX_BLOCK_BYTES = 104_857_600;
/** Places of transactions in the index leave no room for more. */
const MAX_BLOCK_TXS = 100_000;

/** Bytes of a block that its transactions may take, each with its tag and length. */
export function roomForTxs({ consensusParams }: Pick<GenesisHead, "consensusParams">): number {
  const { maxBytes } = consensusParams.block;
  return Math.max(0, (maxBytes === -1n ? MAX_BLOCK_BYTES : Number(maxBytes)) - BLOCK_OVERHEAD);
}

/** Makes blocks, one call each; every block is durable when the call returns. */
export class Producer {
  readonly #parts: Omit<ProducerParts, "genesis">;
  readonly #genesis: GenesisHead;
  #tip: Tip;
  /** Voters of the last block, of the next one and of the one after it. */
  #lastValidators: readonly Validator[] = [];
  #validators: readonly Validator[];
  #nextValidators: readonly Validator[];
  /** While nothing is stored yet. */
  #genesisHash: Uint8Array | undefined;

  constructor({ genesis, ...parts }: ProducerParts) {
    this.#parts = parts;
    this.#genesis = genesisHead(genesis);
    const { blocks } = parts;
    const last = blocks.last;
    if (last === undefined) {
      const { tip, validators } = this.#initChain(genesis);
      this.#tip = tip;
      this.#validators = validators;
      this.#nextValidators = validators;
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
      this.#lastValidators = this.#storedValidators(header.height);
      this.#validators = this.#storedValidators(header.height + 1n);
      this.#nextValidators = this.#storedValidators(header.height + 2n);
    }
  }

  /** Voters of the next block. */
  get validators(): readonly Validator[] {
    return this.#validators;
  }

  /** Proposes, signs, executes and commits the next block with at most `maxTxs` transactions. */
  produce(maxTxs: number): CommittedBlock {
    const { app, blocks, index, mempool } = this.#parts;
    const { block, txHashes } = this.#propose(maxTxs);
    const encoded = encodeBlock(block);
    const commit = this.#sign(block.header, blockIdFor(block.header, encoded));
    const result = this.#execute(block, commit.blockId);
    const { txResults, events, validatorUpdates, appHash } = result;
    const executed = { block, commit, size: encoded.length, txResults, events, validatorUpdates, appHash };
    const validators = this.#applyUpdates(result);
    const touched = app.commit([
      ...blockWrites(executed),
      ...index.writes(executed, txHashes),
      ...this.#chainWrites(executed, validators),
    ]);
    blocks.committed(executed);
    this.#advance(executed, validators);
    const { height } = block.header;
    mempool.committed({ height, hashes: txHashes, results: txResults, touched });
    return { ...executed, txHashes };
  }

  #initChain(genesis: Genesis): { tip: Tip; validators: readonly Validator[] } {
    const { app } = this.#parts;
    const { chainId, time, initialHeight, appState, consensusParams } = genesis;
    const { validators: voters } = genesis;
    const result = app.initChain({ chainId, time, initialHeight, validators: voters, consensusParams, appState });
    refuseParams(result.consensusParams);
    const nothing = { blockId: NO_BLOCK_ID, commit: NO_COMMIT, resultsHash: resultsHash([]) };
    const validators = result.validators.length === 0 ? genesis.validators : result.validators.map(validatorOf);
    return { tip: { height: initialHeight - 1n, time, appHash: result.appHash, ...nothing }, validators };
  }

  #storedValidators(height: bigint): readonly Validator[] {
    const validators = this.#parts.blocks.validators(height);
    if (validators === undefined) throw new Error("the stored blocks lack their validators");
    return validators;
  }

  #propose(maxTxs: number): { block: Block; txHashes: Uint8Array[] } {
    const { app, mempool } = this.#parts;
    const height = this.#tip.height + 1n;
    const { time } = this.#tip;
    const maxBytes = roomForTxs(this.#genesis);
    const { maxGas } = this.#genesis.consensusParams.block;
    const reaped = mempool.reap({ maxTxs: Math.min(maxTxs, MAX_BLOCK_TXS), maxBytes, maxGas });
    const known = new Map(reaped.map(({ tx, hash }) => [tx, hash]));
    const txs = app.prepareProposal({ ...this.#place(height, time), txs: reaped.map(({ tx }) => tx), maxBytes });
    const txHashes = txs.map((tx) => known.get(tx) ?? txHash(tx));
    const header = this.#header(txHashes);
    if (!app.processProposal({ ...this.#place(height, time), txs, hash: headerHash(header) }))
      throw new Error(`the application refuses its own block ${height}`);
    return { block: { header, txs, lastCommit: this.#tip.commit }, txHashes };
  }

  /** What the application is told of a block beside its content. A single validator has nobody to accuse. */
  #place(height: bigint, time: bigint): BlockPlace {
    const { commit } = this.#tip;
    return {
      height,
      time,
      proposer: this.#parts.signer.address,
      nextValidatorsHash: validatorsHash(this.#nextValidators),
      lastCommit: { round: commit.round, votes: this.#votes(commit) },
      misbehavior: [],
    };
  }

  #votes({ signatures }: Commit): VoteInfo[] {
    return signatures.flatMap(({ flag }, i) => {
      const validator = this.#lastValidators[i];
      return validator === undefined
        ? []
        : [{ flag, validator: { address: validator.address, power: validator.power } }];
    });
  }

  #header(txHashes: readonly Uint8Array[]): Header {
    const { signer } = this.#parts;
    const { height, time, blockId, commit, appHash } = this.#tip;
    return {
      chainId: this.#genesis.chainId,
      height: height + 1n,
      time,
      lastBlockId: blockId,
      lastCommitHash: commitHash(commit),
      dataHash: dataHash(txHashes),
      validatorsHash: validatorsHash(this.#validators),
      nextValidatorsHash: validatorsHash(this.#nextValidators),
      consensusHash: consensusParamsHash(this.#genesis.consensusParams),
      appHash,
      lastResultsHash: this.#tip.resultsHash,
      evidenceHash: evidenceHash(),
      proposerAddress: signer.address,
    };
  }

  /** The vote is later than the block; its time becomes the next block's, so times strictly increase. */
  #sign({ chainId, height, time }: Header, blockId: BlockId): Commit {
    const { signer, clock } = this.#parts;
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

  #execute(block: Block, blockId: BlockId): FinalizeBlockResult {
    const { height, time } = block.header;
    const request = { ...this.#place(height, time), txs: block.txs, hash: blockId.hash };
    const result = this.#parts.app.finalizeBlock(request);
    refuseParams(result.consensusParamUpdates);
    if (result.txResults.length !== block.txs.length) {
      throw new Error(`the application gave ${result.txResults.length} results for ${block.txs.length} transactions`);
    }
    return result;
  }

  /** The voters of the block after the next; only this validator's power can change. */
  #applyUpdates({ validatorUpdates }: FinalizeBlockResult): readonly Validator[] {
    if (validatorUpdates.length === 0) return this.#nextValidators;
    return this.#nextValidators.map((validator) => {
      const own = validatorUpdates.every(({ pubKey }) => Buffer.compare(pubKey, validator.pubKey) === 0);
      const power = validatorUpdates.at(-1)?.power ?? 0n;
      if (!own || power <= 0n) {
        throw new Error("the embedded engine runs one validator; a network of several needs the external engine");
      }
      return { ...validator, power };
    });
  }

  /** What changes seldom: the genesis, and voters from a height on. */
  #chainWrites({ block }: ExecutedBlock, validators: readonly Validator[]): Write[] {
    const { height } = block.header;
    const writes: Write[] = [];
    if (this.#genesisHash !== undefined) {
      writes.push(genesisWrite(this.#genesisHash), validatorsWrite(height, this.#validators));
    }
    if (validators !== this.#nextValidators) writes.push(validatorsWrite(height + 2n, validators));
    return writes;
  }

  #advance({ block, commit, appHash, txResults }: ExecutedBlock, validators: readonly Validator[]): void {
    const { height } = block.header;
    this.#tip = {
      height,
      time: voteTime(commit),
      blockId: commit.blockId,
      commit,
      appHash,
      resultsHash: resultsHash(txResults),
    };
    this.#lastValidators = this.#validators;
    this.#validators = this.#nextValidators;
    this.#nextValidators = validators;
    this.#genesisHash = undefined;
  }
}

function refuseParams(params: ConsensusParams | undefined): void {
  if (params !== undefined)
    throw new Error(
      "the embedded engine keeps the parameters of the genesis file; changing them needs the external engine",
    );
}

function validatorOf({ pubKey, power }: ValidatorUpdate): Validator {
  return { address: consensusAddress(pubKey), pubKey, power };
}

/** The time of the block after a commit: that of its only vote. */
function voteTime({ signatures }: Commit): bigint {
  const [vote] = signatures;
  if (vote === undefined) throw new Error("a stored commit has no vote");
  return vote.timestamp;
}
