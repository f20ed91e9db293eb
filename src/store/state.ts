import { append, assert, equalBytes } from "../util/index.ts";
import type { ProofOp } from "../wire/index.ts";
import { PRESENT } from "./codec/values.ts";
import { RESERVED_PREFIX } from "./collections/prefixes.ts";
import { type Database, PATH_TABLES, pathTable, STATE_TABLES, stateTable, type Write } from "./database/database.ts";
import { storeErrors } from "./errors.ts";
import { HISTORY_TABLES } from "./history/epochs.ts";
import { pastTables } from "./history/past.ts";
import {
  MAX_KEPT_NODES,
  MAX_UNWOUND,
  type OldTree,
  PROVEN_HEIGHTS,
  ProvenHeights,
  stepBack,
  stepOf,
} from "./history/proven.ts";
import { PRUNING_STRATEGIES, type Pruning } from "./history/pruning.ts";
import { HistoryWriter, type OldValue } from "./history/writer.ts";
import type { KVReader } from "./kv.ts";
import { type CacheStore, type Change, ListedChanges } from "./layers/cache.ts";
import { CacheMultiStore, type MultiReader } from "./layers/multi-store.ts";
import { ReadCache } from "./layers/read-cache.ts";
import { keyText } from "./layers/text.ts";
import { isRestoring, META_TABLE, type Meta, metaWrite, readMeta } from "./meta.ts";
import { appHashOf } from "./tree/hash.ts";
import { proveInApp, proveInStore } from "./tree/proof.ts";
import { type MovedKey, SparseMerkleTree, type TreeUpdate } from "./tree/smt.ts";

/** The state of one committed height, unaffected by later commits. It must be closed. */
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

/** The value of a store's key, and the proof of it from the value up to the app hash. */
export interface ProvenValue {
  /** Undefined if the proof shows that there is no value. */
  readonly value: Uint8Array | undefined;
  readonly ops: readonly ProofOp[];
}

/** Where a block is executed: changes over the last committed state, which only `commit` makes permanent. */
export class StateBranch extends CacheMultiStore {
  /** The commit that this branch is over; a branch cannot be used after the next one. */
  readonly generation: number;
  /** The prepared state that this branch is over; undefined where it is over the commit itself. */
  readonly base: PreparedState | undefined;

  constructor(under: MultiReader, generation: number, base?: PreparedState) {
    super(under);
    this.generation = generation;
    this.base = base;
  }

  override flush(): never {
    throw new Error("a state branch is committed through its state store");
  }
}

/** One named store: its state on disk, and the tree that commits to it. */
interface NamedStore {
  readonly name: string;
  readonly reader: ReadCache;
  readonly tree: SparseMerkleTree;
  /** The flat state on disk, without the cache, which also remembers absent keys. */
  readonly flat: KVReader;
  /** The key of each path of the tree. */
  readonly paths: KVReader;
}

/**
 * The key with which every store begins: a proof that a key is missing (ICS 23) shows the keys beside it, so an empty
 * store could prove nothing. `checkPrefixes` keeps modules away from its key.
 */
const FIRST_KEY = keyText(Uint8Array.of(RESERVED_PREFIX));

/** Writes of a block besides its state. */
export interface Alongside {
  /** Writes to other tables, which are not versioned. */
  readonly writes?: readonly Write[];
  /** Writes to other tables that can be read as they were at older heights, and are undone together with the block. */
  readonly kept?: readonly Write[];
}

export interface StateOptions {
  /** Everything is kept if it is left out. */
  readonly pruning?: Pruning;
  /** Limits of the trees of older heights, for tests. */
  readonly proven?: { readonly heights: bigint; readonly nodes: number };
}

type Changes = readonly Change[] | ListedChanges;

interface Prepared {
  /** The prepared state that it builds on and is committed with; undefined if it builds on the last commit. */
  readonly base: Prepared | undefined;
  readonly changes: ReadonlyMap<NamedStore, Changes>;
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
  readonly #history: HistoryWriter;
  readonly #proven: ProvenHeights;
  #height = 0n;
  #appHash: Uint8Array;
  #empty = true;
  #generation = 0;

  /**
   * Opens the state and rebuilds the trees (about 3 seconds a million keys). Throws `store/3` when the flat state does
   * not have the roots of the last commit, `store/4` when it holds a store that `names` lacks.
   */
  static open(database: Database, names: readonly string[], options: StateOptions = {}): StateStore {
    return new StateStore(database, names, options);
  }

  private constructor(database: Database, names: readonly string[], options: StateOptions) {
    const { pruning = PRUNING_STRATEGIES.nothing, proven } = options;
    this.#database = database;
    if (isRestoring(database)) throw storeErrors.restoreBroken();
    const meta = readMeta(database);
    this.#stores = new Map(names.map((name) => [name, loadStore(database, name)]));
    this.#appHash = appHashOf(this.#roots());
    this.#checkMeta(meta);
    this.#history = new HistoryWriter(database, pruning, this.#height);
    this.#proven = new ProvenHeights(proven ?? { heights: PROVEN_HEIGHTS, nodes: MAX_KEPT_NODES });
    if (!this.#empty) this.#unwind();
  }

  /** Height of the last commit; 0 before the first. */
  get height(): bigint {
    return this.#height;
  }

  /** App hash of the last commit; before the first commit, of empty stores. */
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

  /** The last committed state, unchanged until closed. */
  snapshot(): StateSnapshot {
    const held = this.#database.snapshot();
    return {
      height: this.#height,
      appHash: this.#appHash,
      store: (name) => held.table(stateTable(this.#store(name).name)),
      close: () => held.close(),
    };
  }

  /** The lowest height that can be read. */
  get lowestHeight(): bigint {
    return this.#history.base;
  }

  /**
   * Keeps a height readable, whatever pruning says, until the returned function is called. Throws `store/9` if it is
   * not kept.
   */
  hold(height: bigint): () => void {
    if (this.#empty || height > this.#height || height < this.lowestHeight)
      throw storeErrors.notKept(`height ${height}`);
    return this.#history.hold(height);
  }

  /** The lowest height that can be proved. */
  get lowestProven(): bigint {
    const [trees, values] = [this.#proven.lowest(this.#height), this.#history.base];
    return trees > values ? trees : values;
  }

  /** The value of a store's key with its proof (ICS 23), at the last commit or a height down to `lowestProven`. */
  prove(name: string, key: Uint8Array, height: bigint = this.#height): ProvenValue {
    assert(!this.#empty, "there is a commit to prove something of");
    if (height === this.#height) return this.#proveIn(name, key);
    const trees = this.#proven.at(height);
    const tables = pastTables(this.#database, height);
    assert(trees !== undefined && tables !== undefined, "the height is one that can be proved");
    const { tree, paths } = this.#store(name);
    const { top } = treeOf(trees, name);
    const flat = tables.store(name);
    const keyOf = (path: Uint8Array) => this.#proven.goneKey(height, name, path) ?? paths.get(path);
    const proven = { tree: tree.at(top), key: keyOf, value: (each: Uint8Array) => flat.get(each) };
    const roots = new Map([...trees].map(([store, { root }]) => [store, root]));
    return { value: flat.get(key), ops: [proveInStore(proven, key), proveInApp(roots, name)] };
  }

  branch(): StateBranch {
    return new StateBranch(this, this.#generation);
  }

  /**
   * Where the first block is executed: over the state of genesis, which is already hashed and is committed with it.
   * Nothing more is written to the branch below.
   */
  branchOver(genesis: StateBranch, base: PreparedState): StateBranch {
    assert(this.#empty && this.#prepared.has(base), "the state of genesis is prepared and not committed");
    return new StateBranch(genesis, this.#generation, base);
  }

  /**
   * Applies a branch's changes to the trees, tentatively: several branches can be asked about before one is committed.
   * Writes made to the branch afterwards are not part of the answer.
   */
  workingHash(branch: StateBranch): PreparedState {
    if (branch.generation !== this.#generation)
      throw new Error("this branch was made before the last commit: take a new one");
    const base = branch.base === undefined ? undefined : this.#prepared.get(branch.base);
    if (branch.base !== undefined && base === undefined) throw new Error("what this branch is over was released");
    const changes = new Map<NamedStore, Changes>();
    const updates = new Map<NamedStore, TreeUpdate>();
    const caches = new Map(branch.touched());
    for (const store of this.#stores.values()) {
      const made = changesOf(store, caches.get(store.name), base);
      if (made.length === 0) continue;
      changes.set(store, made);
      updates.set(store, store.tree.update(made, base?.updates.get(store)?.node));
    }
    const roots = this.#roots(updates, base?.roots);
    const prepared: PreparedState = { appHash: appHashOf(roots) };
    this.#prepared.set(prepared, { base, changes, updates, roots });
    return prepared;
  }

  /**
   * Makes a prepared state the last one, in one durable transaction with the old values and the caller's writes to its
   * own tables. If the database refuses, nothing has changed. Other prepared states become void.
   */
  commit(height: bigint, prepared: PreparedState, { writes = [], kept = [] }: Alongside = {}): void {
    const chosen = this.#prepared.get(prepared);
    if (chosen === undefined) throw new Error("this state was prepared before the last commit");
    if (!this.#empty && height <= this.#height)
      throw new Error(`height ${height} does not follow the last commit ${this.#height}`);
    for (const { table } of [...writes, ...kept]) checkForeignTable(table);
    const meta = metaWrite({ height, appHash: prepared.appHash, roots: chosen.roots });
    const { base } = chosen;
    const moved = movedIn(chosen);
    const history = this.#empty
      ? this.#history.begin(height)
      : this.#history.record(height, this.#oldValues(chosen, kept));
    const all = [...writesOf(chosen, moved), ...writes, ...kept, ...history.writes, meta];
    if (base === undefined) this.#database.write(all);
    else this.#database.write(all, bulkOf(base));
    history.done();
    this.#adopt(height, chosen, moved);
    this.#height = height;
    this.#appHash = prepared.appHash;
    this.#empty = false;
    this.#generation += 1;
  }

  /**
   * Undoes the last commit, in one durable transaction with the caller's writes: everything that it wrote to state and
   * to versioned tables is as it was before. The state store is void afterwards, and the database must be opened again.
   * Throws `store/9` if the height before is not kept.
   */
  rollback(writes: readonly Write[] = []): Pick<StateSnapshot, "height" | "appHash"> {
    const undo = this.#empty ? undefined : this.#history.undo(this.#height);
    if (undo === undefined) throw storeErrors.notKept(`the state before height ${this.#height}`);
    const height = this.#height - 1n;
    const updates = this.#updatesBack(this.#trees(), undo.old);
    const roots = this.#roots(updates);
    const appHash = appHashOf(roots);
    const state = undo.old.map(({ table, key, old }): Write => ({ table, key, value: old ?? null }));
    const paths = [...updates].flatMap(([store, update]) => pathWrites(store, [...store.tree.movedKeys(update)]));
    const meta = metaWrite({ height, appHash, roots });
    this.#database.write([...state, ...paths, ...undo.writes, ...writes, meta]);
    return { height, appHash };
  }

  /** Drops a prepared state that will not be committed; optional, `commit` does it for all. */
  release(prepared: PreparedState): void {
    const dropped = this.#prepared.get(prepared);
    if (dropped === undefined) return;
    this.#prepared.delete(prepared);
    for (const [store, update] of dropped.updates) store.tree.drop(update);
  }

  #adopt(height: bigint, chosen: Prepared, moved: MovedKeys): void {
    const { base } = chosen;
    for (const [prepared, other] of this.#prepared) if (other !== chosen && other !== base) this.release(prepared);
    this.#prepared.clear();
    const before = this.#trees();
    for (const [store, update] of base?.updates ?? []) store.tree.apply(update);
    for (const [store, update] of chosen.updates) {
      if (this.#empty) store.tree.apply(update);
      else store.tree.keep(update);
    }
    if (!this.#empty) {
      const updates = [...chosen.updates].map(
        ([store, update]) => [store, { update, moved: moved.get(store) ?? [] }] as const,
      );
      this.#proven.push(stepOf(height, before, new Map(updates)));
    }
    for (const store of base?.changes.keys() ?? []) store.reader.forget();
    for (const [store, changes] of chosen.changes)
      for (const [key, value] of changes) store.reader.put(keyText(key), value);
  }

  #proveIn(name: string, key: Uint8Array): ProvenValue {
    const { tree, flat, paths } = this.#store(name);
    const proven = { tree, key: (path: Uint8Array) => paths.get(path), value: (each: Uint8Array) => flat.get(each) };
    return { value: flat.get(key), ops: [proveInStore(proven, key), proveInApp(this.#roots(), name)] };
  }

  #trees(): Map<string, OldTree> {
    return new Map([...this.#stores.values()].map(({ name, tree }) => [name, { top: tree.top, root: tree.root() }]));
  }

  /**
   * The values that a block replaces. The cache has most of them, because transactions read the keys that they change.
   */
  *#oldValues({ changes }: Prepared, kept: readonly Write[]): Generator<OldValue> {
    for (const [{ name, reader }, made] of changes) {
      const table = stateTable(name);
      for (const [key, value] of made) {
        const old = reader.get(key);
        if (!isSame(old, value)) yield { table, key, old };
      }
    }
    for (const { table, key } of kept) yield { table, key, old: this.#database.table(table).get(key) };
  }

  /** Builds the trees of the heights before the last one again, from the old values. */
  #unwind(): void {
    let trees: ReadonlyMap<string, OldTree> = this.#trees();
    const lowest =
      this.#height - PROVEN_HEIGHTS > this.#history.base ? this.#height - PROVEN_HEIGHTS : this.#history.base;
    for (const { height, old } of this.#history.back(lowest, this.#height, MAX_UNWOUND)) {
      const updates = this.#updatesBack(trees, old);
      const before = new Map(trees);
      for (const [{ name }, { node, root }] of updates) before.set(name, { top: node, root });
      if (!this.#proven.unshift(stepBack(height, before, updates))) {
        for (const [{ tree }, update] of updates) tree.drop(update);
        return;
      }
      trees = before;
    }
  }

  #updatesBack(trees: ReadonlyMap<string, OldTree>, old: readonly OldValue[]): Map<NamedStore, TreeUpdate> {
    const updates = new Map<NamedStore, TreeUpdate>();
    for (const store of this.#stores.values()) {
      const table = stateTable(store.name);
      const changes = old.filter((each) => each.table === table).map((each) => [each.key, each.old ?? null] as const);
      if (changes.length > 0) updates.set(store, store.tree.update(changes, treeOf(trees, store.name).top));
    }
    return updates;
  }

  #store(name: string): NamedStore {
    const store = this.#stores.get(name);
    if (store === undefined) throw new Error(`there is no store "${name}"`);
    return store;
  }

  #roots(
    updates: ReadonlyMap<NamedStore, TreeUpdate> = new Map(),
    base: ReadonlyMap<string, Uint8Array> = new Map(),
  ): Map<string, Uint8Array> {
    const roots = new Map<string, Uint8Array>();
    for (const store of this.#stores.values())
      roots.set(store.name, updates.get(store)?.root ?? base.get(store.name) ?? store.tree.root());
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
  tree.fill(flat.iterate());
  return { name, reader: new ReadCache(flat), tree, flat, paths: database.table(pathTable(name)) };
}

function changesOf({ tree }: NamedStore, cache: CacheStore | undefined, base: Prepared | undefined): Changes {
  if (!tree.isEmpty || base !== undefined) return cache === undefined ? [] : [...cache.changes()];
  const changes = cache?.sortedChanges() ?? new ListedChanges();
  changes.add(FIRST_KEY, PRESENT);
  return changes;
}

type MovedKeys = ReadonlyMap<NamedStore, readonly MovedKey[]>;

function movedIn({ updates }: Prepared): MovedKeys {
  return new Map([...updates].map(([store, update]) => [store, [...store.tree.movedKeys(update)]]));
}

function writesOf({ changes }: Prepared, moved: MovedKeys): Write[] {
  const writes: Write[] = [];
  for (const [{ name }, made] of changes) {
    const table = stateTable(name);
    for (const [key, value] of made) writes.push({ table, key, value });
  }
  for (const [store, keys] of moved) append(writes, pathWrites(store, keys));
  return writes;
}

/** The writes of the genesis state, made one at a time: there may be millions. */
function* bulkOf({ changes, updates }: Prepared): IterableIterator<Write> {
  for (const [{ name }, made] of changes) {
    const table = stateTable(name);
    for (const [key, value] of made) yield { table, key, value };
  }
  for (const [{ name, tree }, update] of updates) {
    const table = pathTable(name);
    for (const { path, key, isGone } of tree.movedKeys(update)) yield { table, key: path, value: isGone ? null : key };
  }
}

function pathWrites({ name }: NamedStore, moved: readonly MovedKey[]): Write[] {
  const table = pathTable(name);
  return moved.map(({ path, key, isGone }) => ({ table, key: path, value: isGone ? null : key }));
}

function isSame(old: Uint8Array | undefined, value: Uint8Array | null): boolean {
  return old === undefined || value === null ? old === undefined && value === null : equalBytes(old, value);
}

function treeOf(trees: ReadonlyMap<string, OldTree>, name: string): OldTree {
  const tree = trees.get(name);
  assert(tree !== undefined, "every store has its tree");
  return tree;
}

function checkForeignTable(table: string): void {
  const isOurs = table === META_TABLE || HISTORY_TABLES.includes(table);
  if (isOurs || table.startsWith(STATE_TABLES) || table.startsWith(PATH_TABLES))
    throw new Error(`table "${table}" is written by the state store alone`);
}
