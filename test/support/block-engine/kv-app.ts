import {
  type Application,
  type AppQuery,
  type AppQueryResult,
  type CheckTx,
  type CheckTxResult,
  type Claim,
  Claims,
  type FinalizeBlock,
  type FinalizeBlockResult,
  type InitChain,
  type InitChainResult,
  type TouchedAccounts,
  type TxResult,
} from "../../../src/abci/index.ts";
import { sha256 } from "../../../src/crypto/index.ts";
import type { Database, Write } from "../../../src/store/index.ts";
import { bytesToUint64, concatBytes, toUtf8, uint64ToBytes } from "../../../src/util/index.ts";

const STATE = "state/kv";
const META = "state/meta";
const LAST = toUtf8("last");
const EMPTY = new Uint8Array();

/**
 * A small application for tests of the engine: a transaction `key=value` sets a key; `key=value@7` is valid up to
 * height 7; `sender/3=x` is valid only as the sender's third transaction, and `a+b/3=x` as the third of both; `key=value~5`
 * pays 5 for a unit of gas; a key `bad` fails when it is executed.
 */
export class KvApplication implements Application {
  readonly #database: Database;
  #height = 0n;
  #hash: Uint8Array = EMPTY;
  #pending: Write[] = [];
  #finalized: { height: bigint; hash: Uint8Array } | undefined;
  readonly #claims = new Claims();
  #executed = new Map<string, number>();
  #touched = new Set<string>();

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

  initChain(_: InitChain): InitChainResult {
    this.#hash = sha256(EMPTY);
    return { validators: [], consensusParams: undefined, appHash: this.#hash };
  }

  checkTx({ tx, kind, place }: CheckTx): CheckTxResult {
    const parsed = parse(tx);
    const error = parsed === undefined ? "not key=value" : this.#refusal(parsed, place);
    const claim = parsed && claimOf(parsed);
    if (error !== undefined || claim === undefined || kind !== "new") return { ...result(error), claim };
    if (place !== undefined) this.#claims.release(place);
    this.#claims.add(claim);
    return { ...result(error), claim };
  }

  /** Claims are always held. */
  holdClaims(): void {}

  releaseClaim(claim: Claim): void {
    this.#claims.release(claim);
  }

  prepareProposal({ txs }: { txs: readonly Uint8Array[] }) {
    return txs;
  }

  processProposal() {
    return true;
  }

  finalizeBlock({ txs, height, keep = (result) => result }: FinalizeBlock): FinalizeBlockResult {
    this.#pending = [];
    this.#touched = new Set();
    const txResults = txs.map((tx, index) => keep(this.#execute(tx, height), index));
    const hash = sha256(concatBytes(this.#hash, ...txs));
    this.#finalized = { height, hash };
    const events = [{ type: "kv", attributes: [{ key: "count", value: String(txs.length), index: true }] }];
    return { events, txResults, validatorUpdates: [], consensusParamUpdates: undefined, appHash: hash };
  }

  commit(alongside: readonly Write[] = []): TouchedAccounts {
    if (this.#finalized === undefined) throw new Error("nothing to commit");
    const { height, hash } = this.#finalized;
    const value = concatBytes(uint64ToBytes(height), hash);
    this.#database.write([...this.#pending, { table: META, key: LAST, value }, ...alongside]);
    this.#height = height;
    this.#hash = hash;
    return this.#touched;
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
    const parsed = parse(tx);
    const failure = parsed === undefined ? "not key=value" : this.#blockRefusal(parsed, height);
    if (parsed === undefined || failure !== undefined) return result(failure);
    const { key, value } = parsed;
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

  #blockRefusal({ key, senders, number, until }: Parsed, height: bigint): string | undefined {
    if (isOver(until, height)) return "expired";
    for (const sender of senders) {
      const expected = (this.#executed.get(sender) ?? 0) + 1;
      if (number !== expected) return `expected ${expected}, got ${number}`;
    }
    for (const sender of senders) {
      this.#executed.set(sender, number);
      this.#touched.add(sender);
    }
    return key === "bad" ? "bad key" : undefined;
  }

  #refusal({ senders, number, until }: Parsed, place: Claim | undefined): string | undefined {
    if (isOver(until, this.#height + 1n)) return "expired";
    for (const sender of senders) {
      const first = (this.#executed.get(sender) ?? 0) + 1;
      const next = first + Number(this.#claims.of(sender)?.txs ?? 0n);
      const fits = place === undefined ? number === next : first <= number && number < next;
      if (!fits) return `expected ${next}, got ${number}`;
    }
    return undefined;
  }
}

interface Parsed {
  readonly key: string;
  readonly value: string;
  readonly until: bigint;
  readonly price: bigint;
  readonly senders: readonly string[];
  readonly number: number;
}

function parse(tx: Uint8Array): Parsed | undefined {
  const found = /^([^=]+)=([^@~]*)(?:@(\d+))?(?:~(\d+))?$/.exec(Buffer.from(tx).toString());
  if (found === null) return undefined;
  const [, key = "", value = "", until = "0", price = "0"] = found;
  const [, senders, number = "0"] = /^([\w+]+)\/(\d+)$/.exec(key) ?? [];
  return {
    key,
    value,
    until: BigInt(until),
    price: BigInt(price),
    senders: senders?.split("+") ?? [],
    number: Number(number),
  };
}

function isOver(until: bigint, height: bigint): boolean {
  return until > 0n && height > until;
}

function claimOf({ senders, number, until, price }: Parsed): Claim {
  const signers = senders.map((account) => ({ account, sequence: BigInt(number) }));
  return { signers, payer: senders[0] ?? "", fee: [], gasPrice: price, timeoutHeight: until };
}

function result(error: string | undefined): Omit<CheckTxResult, "claim"> {
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
