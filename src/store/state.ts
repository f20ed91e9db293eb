import { assert, equalBytes } from "../util/index.ts";
import type { ProofOp } from "../wire/index.ts";
import { PRESENT } from "./codec/values.ts";
import { RESERVED_PREFIX } from "./collections/prefixes.ts";
import { type Database, PATH_TABLES, pathTable, STATE_TABLES, stateTable, type Write } from "./database/database.ts";
import { storeErrors } from "./errors.ts";
import type { KVReader } from "./kv.ts";
import type { CacheStore, Change } from "./layers/cache.ts";
import { CacheMultiStore, type MultiReader } from "./layers/multi-store.ts";
import { ReadCache } from "./layers/read-cache.ts";
import { keyText } from "./layers/text.ts";
import { META_TABLE, type Meta, metaWrite, readMeta } from "./meta.ts";
import { appHashOf } from "./tree/hash.ts";
import { proveInApp, proveInStore } from "./tree/proof.ts";
import { SparseMerkleTree, type TreeUpdate } from "./tree/smt.ts";

/** The state of one committed height, whatever is committed later. Must be closed. */
export interface StateSnapshot extends MultiReader {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  close(): void;
}

/** A block's changes as they will be committed. */
export interface PreparedState {
  /** App hash of the state with the changes, 32 bytes. */
  readonly appHash: Uint8Array;
}

/** What a store has under a key, and the proof of it from the value up to the app hash. */
export interface ProvenValue {
  /** Undefined when the proof shows that there is nothing. */
  readonly value: Uint8Array | undefined;
  readonly ops: readonly ProofOp[];
}

/** Where a block is executed: changes over the last committed state, which only `commit` makes last. */
export class StateBranch extends CacheMultiStore {
  /** The commit that this branch is over; a branch cannot be used after the next one. */
  readonly generation: number;

  constructor(committed: MultiReader, generation: number) {
    super(committed);
    this.generation = generation;
  }

  override flush(): never {
    throw new Error("a state branch is committed through its state store");
  }
}

/** One named store: what is on disk, and the tree that commits to it. */
interface NamedStore {
  readonly name: string;
  readonly reader: ReadCache;
  readonly tree: SparseMerkleTree;
  /** The flat state as it is on disk, past the cache, which remembers absent keys too. */
  readonly flat: KVReader;
  /** The key of each path of the tree. */
  readonly paths: KVReader;
}

/**
 * The entry with which every store begins: a proof that a key is not there (ICS 23) shows the keys beside it, so an
 * empty store could prove nothing. `checkPrefixes` keeps modules away from its key.
 */
const FIRST_ENTRY: Change = [Uint8Array.of(RESERVED_PREFIX), PRESENT];

interface Prepared {
  readonly changes: ReadonlyMap<NamedStore, readonly Change[]>;
  readonly updates: ReadonlyMap<NamedStore, TreeUpdate>;
  readonly roots: ReadonlyMap<string, Uint8Array>;
}

/**
 * The state of the chain: named flat stores in a database, with a sparse Merkle tree over each in memory whose roots
 * make the app hash. One writer: execute on a `branch`, ask for its `workingHash`, `commit` it.
 */
export class StateStore implements MultiReader {
  readonly #database: Database;
  readonly #stores: ReadonlyMap<string, NamedStore>;
  readonly #prepared = new Map<PreparedState, Prepared>();
  #height = 0n;
  #appHash: Uint8Array;
  #empty = true;
  #generation = 0;

  /**
   * Opens the state and rebuilds the trees (about 3 seconds a million keys). Throws `store/3` when the flat state does
   * not have the roots of the last commit, `store/4` when it holds a store that `names` lacks.
   */
  static open(database: Database, names: readonly string[]): StateStore {
    return new StateStore(database, names);
  }

  private constructor(database: Database, names: readonly string[]) {
    this.#database = database;
    const meta = readMeta(database);
    this.#stores = new Map(names.map((name) => [name, loadStore(database, name)]));
    this.#appHash = appHashOf(this.#roots());
    this.#checkMeta(meta);
  }

  /** Height of the last commit; 0 before the first. */
  get height(): bigint {
    return this.#height;
  }

  /** App hash of the last commit; before the first that of empty stores. */
  get appHash(): Uint8Array {
    return this.#appHash;
  }

  /** Whether nothing was ever committed. */
  get isEmpty(): boolean {
    return this.#empty;
  }

  /** A store at the last committed height: consistent until the caller lets others run. */
  store(name: string): KVReader {
    return this.#store(name).reader;
  }

  /** The last committed state, following later commits. For readers that pause, take a `snapshot`. */
  committed(): MultiReader {
    return this;
  }

  /** The last committed state, kept as it is until closed. */
  snapshot(): StateSnapshot {
    const held = this.#database.snapshot();
    return {
      height: this.#height,
      appHash: this.#appHash,
      store: (name) => held.table(stateTable(this.#store(name).name)),
      close: () => held.close(),
    };
  }

  /** What the last committed state has under a key of a store, with its proof (ICS 23). */
  prove(name: string, key: Uint8Array): ProvenValue {
    assert(!this.#empty, "there is a commit to prove something of");
    const { tree, flat, paths } = this.#store(name);
    const proven = { tree, key: (path: Uint8Array) => paths.get(path), value: (each: Uint8Array) => flat.get(each) };
    return { value: flat.get(key), ops: [proveInStore(proven, key), proveInApp(this.#roots(), name)] };
  }

  branch(): StateBranch {
    return new StateBranch(this, this.#generation);
  }

  /**
   * Applies a branch's changes to the trees, tentatively: several branches can be asked about before one is committed.
   * Writes made to the branch afterwards are not part of the answer.
   */
  workingHash(branch: StateBranch): PreparedState {
    if (branch.generation !== this.#generation)
      throw new Error("this branch was made before the last commit: take a new one");
    const changes = new Map<NamedStore, readonly Change[]>();
    const updates = new Map<NamedStore, TreeUpdate>();
    const caches = new Map(branch.touched());
    for (const store of this.#stores.values()) {
      const made = changesOf(store, caches.get(store.name));
      if (made.length === 0) continue;
      changes.set(store, made);
      updates.set(store, store.tree.update(made));
    }
    const roots = this.#roots(updates);
    const prepared: PreparedState = { appHash: appHashOf(roots) };
    this.#prepared.set(prepared, { changes, updates, roots });
    return prepared;
  }

  /**
   * Makes a prepared state the last one, in one durable transaction with the caller's writes to tables of its own. When
   * the database refuses, nothing has changed. Other prepared states become void.
   */
  commit(height: bigint, prepared: PreparedState, alongside: readonly Write[] = []): void {
    const chosen = this.#prepared.get(prepared);
    if (chosen === undefined) throw new Error("this state was prepared before the last commit");
    if (!this.#empty && height <= this.#height)
      throw new Error(`height ${height} does not follow the last commit ${this.#height}`);
    for (const { table } of alongside) checkForeignTable(table);
    const meta = metaWrite({ height, appHash: prepared.appHash, roots: chosen.roots });
    this.#database.write([...writesOf(chosen), ...alongside, meta]);
    this.#adopt(chosen);
    this.#height = height;
    this.#appHash = prepared.appHash;
    this.#empty = false;
    this.#generation += 1;
  }

  /** Drops a prepared state that will not be committed; optional, `commit` does it for all. */
  release(prepared: PreparedState): void {
    const dropped = this.#prepared.get(prepared);
    if (dropped === undefined) return;
    this.#prepared.delete(prepared);
    for (const [store, update] of dropped.updates) store.tree.drop(update);
  }

  #adopt(chosen: Prepared): void {
    for (const [prepared, other] of this.#prepared) if (other !== chosen) this.release(prepared);
    this.#prepared.clear();
    for (const [store, update] of chosen.updates) store.tree.apply(update);
    for (const [store, changes] of chosen.changes)
      for (const [key, value] of changes) store.reader.put(keyText(key), value);
  }

  #store(name: string): NamedStore {
    const store = this.#stores.get(name);
    if (store === undefined) throw new Error(`there is no store "${name}"`);
    return store;
  }

  #roots(updates: ReadonlyMap<NamedStore, TreeUpdate> = new Map()): Map<string, Uint8Array> {
    const roots = new Map<string, Uint8Array>();
    for (const store of this.#stores.values()) roots.set(store.name, updates.get(store)?.root ?? store.tree.root());
    return roots;
  }

  #checkMeta(meta: Meta | undefined): void {
    for (const store of this.#stores.values()) {
      const expected = meta?.roots.get(store.name);
      if (expected === undefined ? store.tree.leafCount === 0 : equalBytes(expected, store.tree.root())) continue;
      throw storeErrors.stateMismatch(`store ${store.name} at height ${meta?.height ?? 0n}`);
    }
    if (meta === undefined) return;
    for (const name of meta.roots.keys()) if (!this.#stores.has(name)) throw storeErrors.unknownStore(name);
    if (!equalBytes(appHashOf(meta.roots), meta.appHash)) throw storeErrors.stateMismatch(`height ${meta.height}`);
    this.#height = meta.height;
    this.#appHash = meta.appHash;
    this.#empty = false;
  }
}

function loadStore(database: Database, name: string): NamedStore {
  const flat = database.table(stateTable(name));
  const tree = new SparseMerkleTree();
  tree.apply(tree.update(flat.iterate()));
  return { name, reader: new ReadCache(flat), tree, flat, paths: database.table(pathTable(name)) };
}

function changesOf({ tree }: NamedStore, cache: CacheStore | undefined): Change[] {
  const changes = cache === undefined ? [] : [...cache.changes()];
  if (tree.isEmpty) changes.push(FIRST_ENTRY);
  return changes;
}

function writesOf({ changes, updates }: Prepared): Write[] {
  const writes: Write[] = [];
  for (const [{ name }, made] of changes) {
    const table = stateTable(name);
    for (const [key, value] of made) writes.push({ table, key, value });
  }
  for (const [{ name, tree }, update] of updates) {
    const table = pathTable(name);
    for (const [key, value] of tree.movedKeys(update)) writes.push({ table, key, value });
  }
  return writes;
}

function checkForeignTable(table: string): void {
  if (table === META_TABLE || table.startsWith(STATE_TABLES) || table.startsWith(PATH_TABLES))
    throw new Error(`table "${table}" is written by the state store alone`);
}
