import type {
  Application,
  AppQuery,
  AppQueryResult,
  CheckTx,
  CheckTxResult,
  FinalizeBlock,
  FinalizeBlockResult,
  TxResult,
} from "../../abci/index.ts";
import { sha256 } from "../../crypto/index.ts";
import type { Database, Write } from "../../store/index.ts";
import { bytesToUint64, concatBytes, toUtf8, uint64ToBytes } from "../../util/index.ts";

const STATE = "state/kv";
const META = "state/meta";
const LAST = toUtf8("last");
const EMPTY = new Uint8Array();

/**
 * A small application for tests of the engine: a transaction `key=value` sets a key; `key=value@7` is valid up to
 * height 7; `sender/3=x` is valid only as the sender's third transaction; a key `bad` fails when it is executed.
 */
export class KvApplication implements Application {
  readonly #database: Database;
  #height = 0n;
  #hash: Uint8Array = EMPTY;
  #pending: Write[] = [];
  #finalized: { height: bigint; hash: Uint8Array } | undefined;
  #checked = new Map<string, number>();
  #executed = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
    const last = database.table(META).get(LAST);
    if (last === undefined) return;
    this.#height = bytesToUint64(last.subarray(0, 8));
    this.#hash = Uint8Array.from(last.subarray(8));
  }

  info() {
    return { version: "kv", lastBlockHeight: this.#height, lastBlockAppHash: this.#hash };
  }

  initChain() {
    this.#hash = sha256(EMPTY);
    return { validators: [], consensusParams: undefined, appHash: this.#hash };
  }

  checkTx({ tx }: CheckTx): CheckTxResult {
    const { sender, sequence, error } = this.#admit(tx, this.#height + 1n, this.#checked);
    return { ...result(error), sender, sequence: BigInt(sequence) };
  }

  prepareProposal({ txs }: { txs: readonly Uint8Array[] }) {
    return txs;
  }

  processProposal() {
    return true;
  }

  finalizeBlock({ txs, height }: FinalizeBlock): FinalizeBlockResult {
    this.#pending = [];
    const txResults = txs.map((tx) => this.#execute(tx, height));
    const hash = sha256(concatBytes(this.#hash, ...txs));
    this.#finalized = { height, hash };
    const events = [{ type: "kv", attributes: [{ key: "count", value: String(txs.length), index: true }] }];
    return { events, txResults, validatorUpdates: [], consensusParamUpdates: undefined, appHash: hash };
  }

  commit(alongside: readonly Write[] = []): void {
    if (this.#finalized === undefined) throw new Error("nothing to commit");
    const { height, hash } = this.#finalized;
    const value = concatBytes(uint64ToBytes(height), hash);
    this.#database.write([...this.#pending, { table: META, key: LAST, value }, ...alongside]);
    this.#height = height;
    this.#hash = hash;
    this.#checked = new Map(this.#executed);
  }

  query({ data }: AppQuery): AppQueryResult {
    const value = data.length === 0 ? undefined : this.#database.table(STATE).get(data);
    const found = value !== undefined;
    return {
      code: found ? 0 : 22,
      codespace: found ? "" : "sdk",
      log: found ? "" : "key not found",
      info: "",
      key: data,
      value: value ?? EMPTY,
      proofOps: [],
      height: this.#height,
    };
  }

  listSnapshots() {
    return [];
  }

  offerSnapshot() {
    return "abort" as const;
  }

  loadSnapshotChunk() {
    return EMPTY;
  }

  applySnapshotChunk() {
    return { result: "abort" as const, refetchChunks: [], rejectSenders: [] };
  }

  #execute(tx: Uint8Array, height: bigint): TxResult {
    const { key, value, error } = this.#admit(tx, height, this.#executed);
    const failure = error ?? (key === "bad" ? "bad key" : undefined);
    if (failure !== undefined) return result(failure);
    this.#pending.push({ table: STATE, key: toUtf8(key), value: toUtf8(value) });
    const attributes = [
      { key: "key", value: key, index: true },
      { key: "amount", value: `${value.length}utoken`, index: true },
      { key: "hidden", value, index: false },
    ];
    const events = [
      { type: "set", attributes },
      { type: "message", attributes: [{ key: "action", value: "set", index: true }] },
    ];
    return { ...result(undefined), data: toUtf8(value), events };
  }

  #admit(tx: Uint8Array, height: bigint, sequences: Map<string, number>) {
    const [, key = "", value = "", until] = /^([^=]+)=([^@]*)(?:@(\d+))?$/.exec(Buffer.from(tx).toString()) ?? [];
    const [, sender = "", number] = /^(\w+)\/(\d+)$/.exec(key) ?? [];
    const expected = (sequences.get(sender) ?? 0) + 1;
    const error = admissionError({ key, until, number, expected, height });
    if (error === undefined && number !== undefined) sequences.set(sender, expected);
    return { key, value, sender, sequence: Number(number ?? 0), error };
  }
}

function admissionError(tx: {
  key: string;
  until: string | undefined;
  number: string | undefined;
  expected: number;
  height: bigint;
}): string | undefined {
  if (tx.key === "") return "not key=value";
  if (tx.until !== undefined && tx.height > BigInt(tx.until)) return "expired";
  if (tx.number !== undefined && Number(tx.number) !== tx.expected) return `expected ${tx.expected}, got ${tx.number}`;
  return undefined;
}

function result(error: string | undefined): TxResult {
  return {
    code: error === undefined ? 0 : 1,
    codespace: error === undefined ? "" : "kv",
    data: EMPTY,
    log: error ?? "",
    gasWanted: 10n,
    gasUsed: 5n,
    events: [],
  };
}
