import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Application,
  AppliedChunk,
  CheckTxResult,
  ConsensusParams,
  FinalizeBlock,
  FinalizeBlockResult,
  RestoredState,
  SnapshotVerdict,
  ValidatorUpdate,
} from "../../../abci/index.ts";
import { equalConsensusParams, MAX_BLOCK_BYTES } from "../../../abci/index.ts";
import { MAX_CHUNK_BYTES, type Write } from "../../../store/index.ts";
import { equalBytes } from "../../../util/index.ts";
import {
  CheckTxType,
  ResponseApplySnapshotChunk_Result as ChunkResult,
  ResponseProcessProposal_ProposalStatus as ProposalStatus,
  type Request,
  type RequestApplySnapshotChunk,
  type RequestCheckTx,
  type RequestFinalizeBlock,
  type RequestInitChain,
  type RequestOfferSnapshot,
  type RequestPrepareProposal,
  type RequestProcessProposal,
  type ResponseSchema,
  ResponseOfferSnapshot_Result as SnapshotResult,
  ResponseVerifyVoteExtension_VerifyStatus as VerifyStatus,
} from "../../../wire/gen/comet/v1/app_pb.js";
import { timeOf } from "../../../wire/index.ts";
import { type Genesis, type GenesisHead, genesisHead } from "../../genesis.ts";
import {
  blockResultInit,
  paramsOf,
  placeOf,
  queryInit,
  Refusal,
  resultInit,
  snapshotInit,
  updateInit,
  updateOf,
} from "./convert.ts";
import { FRAME_ROOM } from "./limits.ts";

type Answer = NonNullable<MessageInitShape<typeof ResponseSchema>["value"]>;

/** A block to execute. */
export interface DecidedBlock extends FinalizeBlock {
  /** Whether the engine took part in the decision; a block that it fetches was decided by others. */
  readonly isProposed: boolean;
}

/** Records of blocks beside the state of the application. */
export interface BlockRecorder {
  /** Whether no block is recorded: the state, if there is one, is that of a snapshot. */
  readonly isEmpty: boolean;
  /** Writes that become durable with the state of a snapshot. */
  restored(state: RestoredState): readonly Write[];
  /** Called with the voters of a new chain. */
  begun(validators: readonly ValidatorUpdate[]): void;
  /** Writes that become durable with the state of a block. */
  writes(block: DecidedBlock, result: FinalizeBlockResult): readonly Write[];
  /** Called when the block is durable. Returns the first height that the engine must keep; 0 = all. */
  committed(block: FinalizeBlock, result: FinalizeBlockResult): bigint;
}

export interface AbciCallsParts {
  readonly app: Application;
  readonly genesis: Genesis;
  /** Bytes of the genesis file. */
  readonly genesisBytes: number;
  /** Parameters of the next block; undefined before the chain begins. */
  readonly params: ConsensusParams | undefined;
  readonly recorder: BlockRecorder;
  /** Called for every check of a new transaction. */
  readonly onChecked?: (tx: Uint8Array, result: CheckTxResult) => void;
  /** Executes no block above this height; 0 = no end. */
  readonly haltHeight: bigint;
}

const SNAPSHOT_RESULTS: Readonly<Record<SnapshotVerdict, SnapshotResult>> = {
  accept: SnapshotResult.ACCEPT,
  abort: SnapshotResult.ABORT,
  reject: SnapshotResult.REJECT,
  rejectFormat: SnapshotResult.REJECT_FORMAT,
  rejectSender: SnapshotResult.REJECT_SENDER,
};

const CHUNK_RESULTS: Readonly<Record<AppliedChunk["result"], ChunkResult>> = {
  accept: ChunkResult.ACCEPT,
  abort: ChunkResult.ABORT,
  retry: ChunkResult.RETRY,
  retrySnapshot: ChunkResult.RETRY_SNAPSHOT,
  rejectSnapshot: ChunkResult.REJECT_SNAPSHOT,
};

/**
 * Answers the calls of an engine. Throws `Refusal` for a call that does not fit the chain; every other error means that
 * the node cannot go on.
 */
export class AbciCalls {
  readonly #app: Application;
  readonly #recorder: BlockRecorder;
  readonly #onChecked: AbciCallsParts["onChecked"];
  readonly #head: GenesisHead;
  readonly #genesisBytes: number;
  readonly #haltHeight: bigint;
  /** Until the first block is committed, or the state of a snapshot. */
  #genesis: Genesis | undefined;
  #params: ConsensusParams | undefined;
  /** Height of the last proposal. */
  #proposed = 0n;
  #pending: { readonly block: DecidedBlock; readonly result: FinalizeBlockResult } | undefined;

  constructor({ app, genesis, genesisBytes, params, recorder, onChecked, haltHeight }: AbciCallsParts) {
    this.#app = app;
    this.#recorder = recorder;
    this.#onChecked = onChecked;
    this.#haltHeight = haltHeight;
    this.#head = genesisHead(genesis);
    this.#genesisBytes = genesisBytes;
    this.#genesis = app.info().lastBlockHeight === 0n ? genesis : undefined;
    this.#params = params;
  }

  /** Most bytes of a request: a block, a chunk of a snapshot, or before the first block the genesis file. */
  get frameLimit(): number {
    const { maxBytes } = (this.#params ?? this.#head.consensusParams).block;
    const block = Number(maxBytes === -1n ? MAX_BLOCK_BYTES : maxBytes);
    return Math.max(block, MAX_CHUNK_BYTES, this.#genesis === undefined ? 0 : this.#genesisBytes) + FRAME_ROOM;
  }

  answer({ value }: Request): Answer {
    switch (value.case) {
      case "echo":
        return { case: "echo", value: { message: value.value.message } };
      case "flush":
        return { case: "flush", value: {} };
      case "info":
        return { case: "info", value: { data: "svc", ...this.#app.info() } };
      case "initChain":
        return this.#initChain(value.value);
      case "query":
        return { case: "query", value: queryInit(this.#app.query(value.value)) };
      case "checkTx":
        return this.#checkTx(value.value);
      case "prepareProposal":
        return this.#prepareProposal(value.value);
      case "processProposal":
        return this.#processProposal(value.value);
      case "finalizeBlock":
        return this.#finalizeBlock(value.value);
      case "commit":
        return this.#commit();
      case "extendVote":
        return { case: "extendVote", value: {} };
      case "verifyVoteExtension":
        return { case: "verifyVoteExtension", value: { status: VerifyStatus.ACCEPT } };
      default:
        return this.#snapshotCall(value);
    }
  }

  #initChain(request: RequestInitChain): Answer {
    const genesis = this.#genesis;
    if (genesis === undefined) throw new Refusal("the chain has begun already");
    const { chainId, initialHeight } = request;
    const [time, consensusParams] = [timeOf(request.time), paramsOf(request.consensusParams)];
    const validators = request.validators.map(updateOf);
    const isSame =
      chainId === genesis.chainId &&
      time === genesis.time &&
      initialHeight === genesis.initialHeight &&
      equalConsensusParams(consensusParams, genesis.consensusParams) &&
      validators.length === genesis.validators.length &&
      validators.every(({ pubKey, power }) =>
        genesis.validators.some((own) => own.power === power && equalBytes(own.pubKey, pubKey)),
      );
    if (!isSame) throw new Refusal("the engine's genesis file is not the one of this home");
    const begin = { chainId, time, initialHeight, validators, consensusParams, appState: genesis.appState };
    const result = this.#app.initChain(begin);
    this.#params = result.consensusParams ?? consensusParams;
    this.#recorder.begun(result.validators.length > 0 ? result.validators : validators);
    return { case: "initChain", value: { validators: result.validators.map(updateInit), appHash: result.appHash } };
  }

  #checkTx({ tx, type }: RequestCheckTx): Answer {
    this.#requireBegun();
    const kind = type === CheckTxType.RECHECK ? "recheck" : "new";
    const result = this.#app.checkTx({ tx, kind });
    if (kind === "new") this.#onChecked?.(tx, result);
    return { case: "checkTx", value: resultInit(result) };
  }

  #prepareProposal(request: RequestPrepareProposal): Answer {
    const place = placeOf(request, request.localLastCommit);
    this.#requireNext(place.height);
    const maxBytes = Number(request.maxTxBytes);
    const txs = this.#app.prepareProposal({ ...place, txs: request.txs, maxBytes });
    return { case: "prepareProposal", value: { txs: [...txs] } };
  }

  #processProposal(request: RequestProcessProposal): Answer {
    const place = placeOf(request, request.proposedLastCommit);
    this.#requireNext(place.height);
    this.#proposed = place.height;
    const { txs, hash } = request;
    const status = this.#app.processProposal({ ...place, txs, hash }) ? ProposalStatus.ACCEPT : ProposalStatus.REJECT;
    return { case: "processProposal", value: { status } };
  }

  #finalizeBlock(request: RequestFinalizeBlock): Answer {
    const { txs, hash } = request;
    const place = placeOf(request, request.decidedLastCommit);
    const block = { ...place, txs, hash, isProposed: this.#proposed === place.height };
    this.#requireNext(block.height);
    if (this.#haltHeight > 0n && block.height > this.#haltHeight)
      throw new Refusal(`block ${block.height} comes after the halt height`);
    const result = this.#app.finalizeBlock(block);
    this.#pending = { block, result };
    return { case: "finalizeBlock", value: blockResultInit(result) };
  }

  #commit(): Answer {
    if (this.#pending === undefined) throw new Refusal("there is no finalized block to commit");
    const { block, result } = this.#pending;
    this.#app.commit(this.#recorder.writes(block, result));
    this.#pending = undefined;
    this.#genesis = undefined;
    this.#params = result.consensusParamUpdates ?? this.#params;
    return { case: "commit", value: { retainHeight: this.#recorder.committed(block, result) } };
  }

  #snapshotCall(value: Request["value"]): Answer {
    switch (value.case) {
      case "listSnapshots":
        return { case: "listSnapshots", value: { snapshots: this.#app.listSnapshots().map(snapshotInit) } };
      case "offerSnapshot":
        return { case: "offerSnapshot", value: { result: this.#offerSnapshot(value.value) } };
      case "loadSnapshotChunk":
        return { case: "loadSnapshotChunk", value: { chunk: this.#app.loadSnapshotChunk(value.value) } };
      case "applySnapshotChunk":
        return { case: "applySnapshotChunk", value: this.#applyChunk(value.value) };
      default:
        throw new Refusal("the request is empty");
    }
  }

  #offerSnapshot({ snapshot, appHash }: RequestOfferSnapshot): SnapshotResult {
    if (snapshot === undefined) throw new Refusal("the offer has no snapshot");
    const replaces = this.#app.info().lastBlockHeight > 0n && this.#recorder.isEmpty;
    return SNAPSHOT_RESULTS[this.#app.offerSnapshot({ snapshot, appHash, replaces })];
  }

  #applyChunk(request: RequestApplySnapshotChunk) {
    const applied = this.#app.applySnapshotChunk(request, (restored) => {
      this.#params = restored.params;
      this.#genesis = undefined;
      return this.#recorder.restored(restored);
    });
    const { result, refetchChunks, rejectSenders } = applied;
    return {
      result: CHUNK_RESULTS[result],
      refetchChunks: [...refetchChunks],
      rejectSenders: [...rejectSenders],
    };
  }

  #requireBegun(): void {
    if (this.#params === undefined) throw new Refusal("the chain has not begun");
  }

  #requireNext(height: bigint): void {
    this.#requireBegun();
    const last = this.#app.info().lastBlockHeight;
    const next = last === 0n ? this.#head.initialHeight : last + 1n;
    if (height !== next) throw new Refusal(`block ${height} comes where block ${next} is next`);
  }
}
