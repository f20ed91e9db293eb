import type { Write } from "../store/index.ts";

/**
 * The application as both engines drive it (ABCI 2.0). Every call is synchronous; the engine serialises `checkTx`,
 * block calls and `query`.
 */
export interface Application {
  info(): AppInfo;
  initChain(request: InitChain): InitChainResult;
  checkTx(request: CheckTx): CheckTxResult;
  prepareProposal(request: PrepareProposal): readonly Uint8Array[];
  processProposal(request: ProcessProposal): boolean;
  finalizeBlock(request: FinalizeBlock): FinalizeBlockResult;
  /** Makes the finalized block durable, in one atomic write with what the engine stores alongside. */
  commit(alongside?: readonly Write[]): void;
  query(request: AppQuery): AppQueryResult;
}

export interface AppInfo {
  readonly version: string;
  readonly lastBlockHeight: bigint;
  /** Empty before the first commit. */
  readonly lastBlockAppHash: Uint8Array;
}

export interface ValidatorUpdate {
  /** ed25519, 32 bytes. */
  readonly pubKey: Uint8Array;
  readonly power: bigint;
}

export interface InitChain {
  readonly chainId: string;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly initialHeight: bigint;
  readonly validators: readonly ValidatorUpdate[];
  /** The `app_state` of the genesis file. */
  readonly appState: Readonly<Record<string, unknown>>;
}

export interface InitChainResult {
  /** Empty = those of the request. */
  readonly validators: readonly ValidatorUpdate[];
  readonly appHash: Uint8Array;
}

export interface CheckTx {
  readonly tx: Uint8Array;
  readonly kind: "new" | "recheck";
}

/** Codes, texts and events as in `comet.v1.ExecTxResult`. */
export interface TxResult {
  readonly code: number;
  readonly codespace: string;
  readonly data: Uint8Array;
  /** For a success the JSON of the logs, for a failure the text. */
  readonly log: string;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly AppEvent[];
}

export interface AppEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string; readonly index: boolean }[];
}

export interface CheckTxResult extends TxResult {
  /** First signer (bech32) and its sequence, for the mempool's order. */
  readonly sender: string;
  readonly sequence: bigint;
}

export interface PrepareProposal {
  readonly txs: readonly Uint8Array[];
  readonly maxBytes: number;
  readonly height: bigint;
  readonly time: bigint;
}

export interface ProcessProposal {
  readonly txs: readonly Uint8Array[];
  readonly height: bigint;
  readonly time: bigint;
}

export interface FinalizeBlock {
  readonly txs: readonly Uint8Array[];
  readonly height: bigint;
  readonly time: bigint;
  readonly proposer: Uint8Array;
  readonly hash: Uint8Array;
}

export interface FinalizeBlockResult {
  readonly events: readonly AppEvent[];
  readonly txResults: readonly TxResult[];
  readonly validatorUpdates: readonly ValidatorUpdate[];
  readonly appHash: Uint8Array;
}

export interface AppQuery {
  /** `/package.Service/Method`, `/app/version`, `/store/<name>/key`. */
  readonly path: string;
  readonly data: Uint8Array;
  /** 0 = latest. */
  readonly height: bigint;
  readonly prove: boolean;
}

export interface AppQueryResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** Of a refusal `codespace/code` of our own error, which the codes that the ecosystem's queries fail with do not tell. */
  readonly info: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly height: bigint;
}
