import { Agent, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { consensusAddress } from "../../crypto/index.ts";
import { append, errorText, fromBase64, fromHex, SvcError } from "../../util/index.ts";
import { parseRfc3339 } from "../embedded/blocks/time.ts";
import type { BlockId, Commit, CommitSig, Header, Validator } from "../embedded/blocks/types.ts";
import { engineErrors } from "../errors.ts";
import type { EngineJson, EngineMethod } from "../source.ts";
import type { EnginePlace } from "./abci/server.ts";
import { BATCH_CALLS, Broadcasts, type EngineCall, type MempoolRoom } from "./broadcasts.ts";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
const MAX_SOCKETS = 16;
/** Shorter than the engine's own limit for idle connections. */
const IDLE_MS = 5_000;
/** Longest time that a client's request waits for an engine that starts. */
const START_MS = 10_000;
const RETRY_MS = 100;
/** Limits of one answer about waiting transactions; bytes are about so many. */
const MAX_WAITING = { txs: 100, bytes: 4 * 1024 * 1024 } as const;

/** A block as its engine has it. */
export interface SignedHeader {
  readonly header: Header;
  readonly commit: Commit;
}

/** The JSON-RPC of an engine. */
export class EngineRpc {
  readonly #place: EnginePlace;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: IDLE_MS });
  /** For requests of the node, which no client holds up. */
  readonly #ownAgent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  readonly #broadcasts: Broadcasts;
  #waiting: Promise<readonly Uint8Array[]> | undefined;
  #isClosed = false;

  /** `room` has the limits of the engine's mempool where they are known. */
  constructor(place: EnginePlace, maxCalls: number = BATCH_CALLS.default, room?: MempoolRoom) {
    this.#place = place;
    this.#broadcasts = new Broadcasts((calls, since) => this.#askOnce(calls, since), maxCalls, room);
  }

  /** Resolves when the engine answers. */
  async health(): Promise<void> {
    await this.#read("health", {});
  }

  /** Header of a block, and the votes on it that the engine has. Waits until the engine answers. */
  async commit(height: bigint): Promise<SignedHeader> {
    const { signed_header } = await this.#read("commit", { height: height.toString() });
    const { header, commit } = objectOf(signed_header);
    return { header: headerOf(objectOf(header)), commit: commitOf(objectOf(commit)) };
  }

  /** The votes on the block before that a block carries. */
  async lastCommit(height: bigint): Promise<Commit> {
    const { block } = await this.#read("block", { height: height.toString() });
    return commitOf(objectOf(objectOf(block).last_commit));
  }

  /** Voters on a block, in the engine's order. */
  async validators(height: bigint): Promise<Validator[]> {
    const found: Validator[] = [];
    for (let page = 1; ; page++) {
      const asked = { height: height.toString(), page: String(page), per_page: "100" };
      const { validators, total } = await this.#read("validators", asked);
      const rows = listOf(validators).map((each) => validatorOf(objectOf(each)));
      append(found, rows);
      if (rows.length === 0 || found.length >= Number(total)) return found;
    }
  }

  /** Bytes of a block. */
  async size(height: bigint): Promise<number> {
    const { block_metas } = await this.#read("blockchain", { minHeight: `${height}`, maxHeight: `${height}` });
    const [meta] = listOf(block_metas);
    return Number(textOf(objectOf(meta).block_size));
  }

  /** Hands a transaction to the engine. Resolves when the application has checked it. */
  async broadcast(tx: Uint8Array): Promise<void> {
    resultOf(await this.#broadcasts.add(tx));
  }

  /** The application has found a transaction good, so the engine's mempool may hold it. */
  checked(tx: Uint8Array): void {
    this.#broadcasts.checked(tx);
  }

  /** Passes a request on. */
  ask(method: EngineMethod, params: EngineJson): Promise<EngineJson> {
    return this.#ask(method, params);
  }

  /** The first waiting transactions, fewer than the limit where they are long. Callers at the same time share one answer. */
  async waiting(limit: number): Promise<readonly Uint8Array[]> {
    this.#waiting ??= this.#firstWaiting().finally(() => {
      this.#waiting = undefined;
    });
    return (await this.#waiting).slice(0, limit);
  }

  async #firstWaiting(): Promise<readonly Uint8Array[]> {
    const size = await this.waitingSize();
    const fitting = Math.floor((MAX_WAITING.bytes * size.txs) / Math.max(1, size.bytes));
    const limit = Math.min(MAX_WAITING.txs, Math.max(1, fitting));
    const { txs } = await this.#ask("unconfirmed_txs", { limit: String(limit) });
    return listOf(txs).map((tx) => fromBase64(textOf(tx)));
  }

  async waitingSize(): Promise<{ txs: number; bytes: number }> {
    const { total, total_bytes } = await this.#ask("num_unconfirmed_txs", {});
    return { txs: Number(total), bytes: Number(total_bytes) };
  }

  /** Ends all requests, also while they wait for the engine. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
    this.#ownAgent.destroy();
  }

  /** A request of this node, repeated until the engine answers. */
  async #read(method: string, params: EngineJson): Promise<EngineJson> {
    const answer = await this.#exchange([{ id: 1, method, params }], this.#ownAgent, () => true);
    const { error, result } = objectOf(answer);
    if (error !== undefined) throw engineErrors.failed(errorOf(objectOf(error)));
    return objectOf(result);
  }

  /** A request of a client. Throws its refusal as the embedded engine would tell it. */
  async #ask(method: string, params: EngineJson): Promise<EngineJson> {
    return resultOf(objectOf(await this.#askOnce([{ id: 1, method, params }])));
  }

  /** Calls for clients, which reach the engine once. Waits for an engine that starts. */
  #askOnce(calls: readonly EngineCall[], since = performance.now()): Promise<unknown> {
    const deadline = since + START_MS;
    return this.#exchange(calls, this.#agent, (fault) => isAbsent(fault) && performance.now() < deadline);
  }

  /** The answer to a call, or to a batch of calls. */
  async #exchange(
    calls: readonly EngineCall[],
    agent: Agent,
    mayRepeat: (fault: unknown) => boolean,
  ): Promise<unknown> {
    const bodies = calls.map((call) => ({ jsonrpc: "2.0", ...call }));
    const body = JSON.stringify(bodies.length === 1 ? bodies[0] : bodies);
    for (;;) {
      try {
        return JSON.parse(await this.#post(body, agent));
      } catch (fault) {
        if (this.#isClosed || !mayRepeat(fault)) throw engineErrors.away(errorText(fault));
      }
      await setTimeout(RETRY_MS);
    }
  }

  #post(body: string, agent: Agent): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json" };
      const { path: socketPath, ...port } = { path: undefined, ...this.#place };
      const place = socketPath === undefined ? port : { socketPath };
      const options = { ...place, agent, method: "POST", path: "/", headers };
      const call = request({ ...options, timeout: TIMEOUT_MS }, (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on("data", (part: Buffer) => {
          bytes += part.length;
          parts.push(part);
          if (bytes > MAX_ANSWER_BYTES) call.destroy(new Error("its answer is too long"));
        });
        response.on("end", () => resolve(Buffer.concat(parts).toString("utf8")));
        response.on("error", reject);
      });
      call.on("timeout", () => call.destroy(new Error("it did not answer in time")));
      call.on("error", reject);
      call.end(body);
    });
  }
}

/** Whether no engine listens: the request reached none. */
function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ECONNREFUSED");
}

function errorOf({ message, data }: EngineJson): string {
  return typeof data === "string" && data !== "" ? data : String(message);
}

/** The result of a call. Throws its refusal as the embedded engine would tell it. */
function resultOf({ error, result }: EngineJson): EngineJson {
  if (error === undefined) return objectOf(result);
  const text = errorOf(objectOf(error));
  throw mempoolRefusal(text) ?? engineErrors.refused(text);
}

/** Refusals of a mempool that clients know, with their numbers in codespace `sdk`. */
const REFUSALS: readonly (readonly [pattern: RegExp, code: number])[] = [
  [/^tx already exists in cache/, 19],
  [/^mempool is full/, 20],
  [/^tx too large/i, 21],
];

/** A mempool's refusal in the words of another node; undefined for other words. */
export function mempoolRefusal(text: string): SvcError | undefined {
  const known = REFUSALS.find(([pattern]) => pattern.test(text));
  return known && new SvcError("sdk", known[1], text.replace(/^Tx/, "tx"));
}

function headerOf(json: EngineJson): Header {
  const hash = (name: string): Uint8Array => fromHex(textOf(json[name]));
  return {
    chainId: textOf(json.chain_id),
    height: BigInt(textOf(json.height)),
    time: parseRfc3339(textOf(json.time)),
    lastBlockId: blockIdOf(objectOf(json.last_block_id)),
    lastCommitHash: hash("last_commit_hash"),
    dataHash: hash("data_hash"),
    validatorsHash: hash("validators_hash"),
    nextValidatorsHash: hash("next_validators_hash"),
    consensusHash: hash("consensus_hash"),
    appHash: hash("app_hash"),
    lastResultsHash: hash("last_results_hash"),
    evidenceHash: hash("evidence_hash"),
    proposerAddress: hash("proposer_address"),
  };
}

function commitOf(json: EngineJson): Commit {
  return {
    height: BigInt(textOf(json.height)),
    round: Number(json.round),
    blockId: blockIdOf(objectOf(json.block_id)),
    signatures: listOf(json.signatures).map((each) => commitSigOf(objectOf(each))),
  };
}

function validatorOf(json: EngineJson): Validator {
  const pubKey = fromBase64(textOf(objectOf(json.pub_key).value));
  return { address: consensusAddress(pubKey), pubKey, power: BigInt(textOf(json.voting_power)) };
}

/** Go's zero time, which absent votes have. */
const NO_TIME = "0001-01-01T00:00:00Z";

function commitSigOf(json: EngineJson): CommitSig {
  const flag = json.block_id_flag;
  if (flag !== 1 && flag !== 2 && flag !== 3) throw new Error(`a vote has the unknown flag ${String(flag)}`);
  return {
    flag,
    validatorAddress: fromHex(textOf(json.validator_address)),
    timestamp: parseRfc3339(textOf(json.timestamp ?? NO_TIME)),
    signature: fromBase64(textOf(json.signature ?? "")),
  };
}

function blockIdOf(json: EngineJson): BlockId {
  const parts = objectOf(json.parts);
  return { hash: fromHex(textOf(json.hash)), parts: { total: Number(parts.total), hash: fromHex(textOf(parts.hash)) } };
}

function objectOf(value: unknown): EngineJson {
  if (typeof value !== "object" || value === null) throw new Error("the engine's answer has another form");
  return Object.fromEntries(Object.entries(value));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Error("the engine's answer has another form");
  return value;
}
