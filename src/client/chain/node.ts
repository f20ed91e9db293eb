import { sha256 } from "../../crypto/index.ts";
import { concatBytes, fromHex, isOneOf, sdkErrors, toBase64, toHex, toUtf8 } from "../../util/index.ts";
import { formatTimestamp, parseTimestamp, txHash } from "../../wire/index.ts";
import { clientErrors, RpcError } from "../errors.ts";
import type { RpcCall, RpcClient } from "../rpc/rpc.ts";
import * as answers from "./answers.ts";

/** One event with its attributes in order. */
export interface ChainEvent {
  readonly type: string;
  readonly attributes: readonly EventAttribute[];
}

/** One key of an event with its value. */
export interface EventAttribute {
  readonly key: string;
  readonly value: string;
  /** Whether the node's index can be searched for it. */
  readonly index: boolean;
}

/** A node's facts about itself and its chain. */
export interface NodeStatus {
  readonly chainId: string;
  /** Version of the engine, for example `0.38.17`. */
  readonly version: string;
  readonly moniker: string;
  readonly latestHeight: bigint;
  /** RFC 3339. */
  readonly latestTime: string;
  readonly earliestHeight: bigint;
  readonly catchingUp: boolean;
  /** The ed25519 key that signs all blocks, where the node makes them alone; undefined on a network. */
  readonly onlySigner?: Uint8Array | undefined;
}

/** The effects of a transaction. */
export interface TxResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly info: string;
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly ChainEvent[];
}

/** A transaction of a block. */
export interface CommittedTx extends TxResult {
  /** Upper-case hex. */
  readonly hash: string;
  readonly height: bigint;
  readonly index: number;
  readonly bytes: Uint8Array;
}

/** A committed block with all that happened in it. */
export interface Block {
  readonly chainId: string;
  readonly height: bigint;
  readonly time: Date;
  /** The header's time as the chain wrote it, RFC 3339 with nanoseconds. */
  readonly timestamp: string;
  /** Upper-case hex. */
  readonly hash: string;
  /** Events that belong to no transaction, begin of the block before its end. */
  readonly events: readonly ChainEvent[];
  readonly txs: readonly CommittedTx[];
}

/** Which state a query is about, and whether a proof is wanted. */
export interface AbciQueryOptions {
  /** 0 or absent for the latest. */
  readonly height?: bigint | undefined;
  readonly prove?: boolean;
}

/** The application's answer: raw bytes, and the code of a refusal. */
export interface AbciQueryResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** On our own chain `codespace/code` of the error behind a refusal. */
  readonly info: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly height: bigint;
  readonly proofOps: readonly { readonly type: string; readonly key: Uint8Array; readonly data: Uint8Array }[];
}

/** The node's first answer to a transaction. */
export interface BroadcastResult {
  readonly hash: string;
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly data: Uint8Array;
}

/** Which page of found transactions; pages count from 1, 30 to a page by default. */
export interface TxSearchOptions {
  readonly page?: number;
  readonly perPage?: number;
  readonly order?: "asc" | "desc";
}

/** The RPC methods of a node with their answers in our types. */
export class NodeApi {
  readonly rpc: RpcClient;
  #encodedEvents: Promise<boolean> | undefined;

  constructor(rpc: RpcClient) {
    this.rpc = rpc;
  }

  /** The node's facts about itself, its chain and the latest block. */
  async status(): Promise<NodeStatus> {
    const answer = await this.#call(answers.status, { method: "status", params: {} });
    const { node_info: node, sync_info: sync } = answer;
    return {
      chainId: node.network,
      version: node.version,
      moniker: node.moniker,
      latestHeight: sync.latest_block_height,
      latestTime: sync.latest_block_time,
      earliestHeight: sync.earliest_block_height,
      catchingUp: sync.catching_up,
      onlySigner: answer.engine === "embedded" ? answer.validator_info?.pub_key?.value : undefined,
    };
  }

  /**
   * Distinguishes the chain from another one with the same id: lower-case hex, of the genesis file's first chunk and
   * the number of its chunks.
   */
  async genesisHash(): Promise<string> {
    const call = { method: "genesis_chunked", params: { chunk: "0" } };
    const { total, data } = await this.#call(answers.genesisChunk, call);
    return toHex(sha256(concatBytes(toUtf8(`${total}/`), data)));
  }

  /**
   * Queries the application directly; the code of the result says whether it refused. `QueryClient` is the typed way.
   */
  async abciQuery(path: string, data: Uint8Array, options: AbciQueryOptions = {}): Promise<AbciQueryResult> {
    const { height = 0n, prove = false } = options;
    const params = { path, data: toHex(data), height: height.toString(), prove };
    const { response } = await this.#call(answers.abciQuery, { method: "abci_query", params });
    return { ...response, proofOps: response.proofOps?.ops ?? [] };
  }

  /** Several queries of the application in one request. Rejects if the node refuses one of the calls. */
  async abciQueries(
    queries: readonly (AbciQueryOptions & { readonly path: string; readonly data: Uint8Array })[],
  ): Promise<readonly AbciQueryResult[]> {
    const calls = queries.map(({ path, data, height = 0n, prove = false }) => {
      return { method: "abci_query", params: { path, data: toHex(data), height: height.toString(), prove } };
    });
    const found = await this.rpc.batch(calls);
    return found.map((answer) => {
      if (answer instanceof RpcError) throw answer;
      const { response } = answers.readAnswer(answers.abciQuery, "abci_query", answer);
      return { ...response, proofOps: response.proofOps?.ops ?? [] };
    });
  }

  /** Submits a transaction to the mempool: `sync` waits for its check, `async` for nothing. Its hash is that of its bytes, not the node's word. */
  async broadcast(tx: Uint8Array, mode: "sync" | "async"): Promise<BroadcastResult> {
    const call = { method: `broadcast_tx_${mode}`, params: { tx: toBase64(tx) } };
    let tries = 0;
    return this.rpc.retrying(async () => {
      tries += 1;
      try {
        const result = answers.readAnswer(answers.broadcast, call.method, await this.rpc.callOnce(call));
        if (tries > 1 && isOneOf([sdkErrors.wrongSequence], result)) return await this.#arrived(tx);
        return tries > 1 && isKnown(result) ? accepted(tx) : { ...result, hash: txHash(tx) };
      } catch (error) {
        if (tries === 1 || !(error instanceof RpcError) || !IN_CACHE.test(error.data)) throw error;
        return accepted(tx);
      }
    });
  }

  /**
   * Looks for a transaction whose sequence is used when it is sent again: its first try may be in a block. Rejects where it is not
   * found: a new transaction could pay twice.
   */
  async #arrived(tx: Uint8Array): Promise<BroadcastResult> {
    const hash = txHash(tx);
    if ((await this.tx(hash)) !== undefined) return accepted(tx);
    const hint = `it may be in a block all the same: svc query tx ${hash}`;
    throw clientErrors.timeout(`transaction ${hash} was refused when it was sent again`, { hint });
  }

  /** A committed transaction by its hash (hex); undefined while the node does not have it. */
  async tx(hash: string): Promise<CommittedTx | undefined> {
    const call = { method: "tx", params: { hash: toBase64(fromHex(hash)), prove: false } };
    try {
      const found = this.#committed(await this.#call(answers.tx, call), await this.#hasEncodedEvents());
      if (found.hash === hash.toUpperCase()) return found;
      throw clientErrors.badAnswer(`tx: it is transaction ${found.hash} instead of ${hash}`);
    } catch (error) {
      if (error instanceof RpcError && /\bnot found\b/.test(error.data)) return undefined;
      throw error;
    }
  }

  /** Committed transactions whose events match a query such as `message.action='send' AND tx.height>5`. */
  async txSearch(query: string, options: TxSearchOptions = {}): Promise<{ txs: CommittedTx[]; total: bigint }> {
    const { page = 1, perPage = 30, order = "asc" } = options;
    const params = { query, prove: false, page: String(page), per_page: String(perPage), order_by: order };
    const answer = await this.#call(answers.txSearch, { method: "tx_search", params });
    const encoded = await this.#hasEncodedEvents();
    return { txs: answer.txs.map((tx) => this.#committed(tx, encoded)), total: answer.total_count };
  }

  /** A block with its results. Throws `RpcError` for a height the node does not have. */
  async block(height: bigint): Promise<Block> {
    const params = { height: height.toString() };
    const methods = ["block", "block_results"];
    const [block, results] = await this.rpc.batch(methods.map((method) => ({ method, params })));
    for (const answer of [block, results]) if (answer instanceof RpcError) throw answer;
    const found = toBlock(
      answers.readAnswer(answers.block, "block", block),
      answers.readAnswer(answers.blockResults, "block_results", results),
      await this.#hasEncodedEvents(),
    );
    if (found.height === height) return found;
    throw clientErrors.badAnswer(`block: it is block ${found.height} instead of ${height}`);
  }

  /** Times of blocks as RFC 3339 with whole seconds, by height; heights that the node lacks are left out. */
  async blockTimes(heights: readonly bigint[]): Promise<Map<bigint, string>> {
    const distinct = [...new Set(heights)];
    const calls = distinct.map((height) => ({ method: "block", params: { height: height.toString() } }));
    const found = await this.rpc.batch(calls);
    const times = new Map<bigint, string>();
    distinct.forEach((height, i) => {
      if (found[i] instanceof RpcError) return;
      const time = parseTimestamp(answers.readAnswer(answers.block, "block", found[i]).block.header.time);
      if (time !== undefined) times.set(height, formatTimestamp({ ...time, nanos: 0 }));
    });
    return times;
  }

  async #call<T extends Parameters<typeof answers.readAnswer>[0]>(schema: T, call: RpcCall) {
    return answers.readAnswer(schema, call.method, await this.rpc.call(call.method, call.params));
  }

  #committed(answer: answers.TxAnswer, encoded: boolean): CommittedTx {
    const { height, index, tx } = answer;
    return { ...toResult(answer.tx_result, encoded), hash: txHash(tx), height, index, bytes: tx };
  }

  /** Queried once: the version of a node does not change while it runs. */
  #hasEncodedEvents(): Promise<boolean> {
    this.#encodedEvents ??= this.status().then(
      ({ version }) => /^0\.([0-2]\d|3[0-6])\./.test(version),
      (error) => {
        this.#encodedEvents = undefined;
        throw error;
      },
    );
    return this.#encodedEvents;
  }
}

const IN_CACHE = /tx already exists in cache/i;

function isKnown({ codespace, code }: BroadcastResult): boolean {
  return isOneOf([sdkErrors.txInMempool], { codespace, code });
}

/** An earlier try reached the mempool, although its answer said that the node was busy. */
function accepted(tx: Uint8Array): BroadcastResult {
  return { hash: txHash(tx), code: 0, codespace: "", log: "", data: new Uint8Array() };
}

function toResult(answer: answers.TxResultAnswer, encoded: boolean): TxResult {
  return {
    code: answer.code,
    codespace: answer.codespace,
    log: answer.log,
    info: answer.info,
    data: answer.data,
    gasWanted: answer.gas_wanted,
    gasUsed: answer.gas_used,
    events: answers.plainEvents(answer.events, encoded),
  };
}

function toBlock(answer: answers.BlockAnswer, results: answers.BlockResultsAnswer, encoded: boolean): Block {
  const { header, data } = answer.block;
  if (results.height !== header.height)
    throw clientErrors.badAnswer(`the results are those of block ${results.height} instead of ${header.height}`);
  if (results.txs_results.length !== data.txs.length) {
    throw clientErrors.badAnswer(
      `block ${header.height} has ${data.txs.length} transactions and ${results.txs_results.length} results`,
    );
  }
  const events = [...results.begin_block_events, ...results.finalize_block_events, ...results.end_block_events];
  return {
    chainId: header.chain_id,
    height: header.height,
    time: new Date(header.time),
    timestamp: header.time,
    hash: answer.block_id.hash,
    events: answers.plainEvents(events, encoded),
    txs: results.txs_results.map((result, index) => {
      const bytes = data.txs[index] ?? new Uint8Array();
      return { ...toResult(result, encoded), hash: txHash(bytes), height: header.height, index, bytes };
    }),
  };
}
