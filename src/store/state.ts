import { equalBytes, fromHex, fromUtf8, toHex, toUtf8 } from "../util/index.ts";
import { type Database, STATE_TABLES, stateTable, type Write } from "./database/database.ts";
import { storeErrors } from "./errors.ts";
import type { KVReader } from "./kv.ts";
import type { Change } from "./layers/cache.ts";
import { CacheMultiStore, type MultiReader } from "./layers/multi-store.ts";
import { ReadCache } from "./layers/read-cache.ts";
import { keyText } from "./layers/text.ts";
import { appHashOf } from "./tree/hash.ts";
import { SparseMerkleTree, type TreeUpdate } from "./tree/smt.ts";

/** Table and key of the record of the last commit. */
const META_TABLE = "commit";
const META_KEY = toUtf8("last");

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
  readonly writes: readonly Write[];
}

/** Where a block is executed: changes over the last committed state, which only `commit` makes last. */
export class StateBranch extends CacheMultiStore {
  /** The commit this branch is over; a branch is of no use after the next one. */
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
}

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
    this.#stores = new Map(names.map((name) => [name, loadStore(database, name)]));
    this.#appHash = appHashOf(this.#roots());
    this.#checkMeta(readMeta(database));
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
    for (const [name, cache] of branch.touched()) {
      if (cache.changeCount === 0) continue;
      const store = this.#store(name);
      const made = [...cache.changes()];
      changes.set(store, made);
      updates.set(store, store.tree.update(made));
    }
    const roots = this.#roots(updates);
    const prepared: PreparedState = { appHash: appHashOf(roots), writes: writesOf(changes) };
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
    const meta = encodeMeta({ height, appHash: prepared.appHash, roots: chosen.roots });
    this.#database.write([...prepared.writes, ...alongside, { table: META_TABLE, key: META_KEY, value: meta }]);
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
  const table = database.table(stateTable(name));
  const tree = new SparseMerkleTree();
  tree.apply(tree.update(table.iterate()));
  return { name, reader: new ReadCache(table), tree };
}

function writesOf(changes: ReadonlyMap<NamedStore, readonly Change[]>): Write[] {
  const writes: Write[] = [];
  for (const [store, made] of changes) {
    const table = stateTable(store.name);
    for (const [key, value] of made) writes.push({ table, key, value });
  }
  return writes;
}

function checkForeignTable(table: string): void {
  if (table === META_TABLE || table.startsWith(STATE_TABLES))
    throw new Error(`table "${table}" is written by the state store alone`);
}

interface Meta {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly roots: ReadonlyMap<string, Uint8Array>;
}

/** Text, so that a damaged data directory can be looked at with any tool. */
function encodeMeta({ height, appHash, roots }: Meta): Uint8Array {
  const stores = Object.fromEntries([...roots].map(([name, root]) => [name, toHex(root)]));
  return toUtf8(JSON.stringify({ format: 1, height: `${height}`, appHash: toHex(appHash), stores }));
}

function readMeta(database: Database): Meta | undefined {
  const bytes = database.table(META_TABLE).get(META_KEY);
  if (bytes === undefined) return undefined;
  try {
    const raw: { format: number; height: string; appHash: string; stores: Record<string, string> } = JSON.parse(
      fromUtf8(bytes),
    );
    if (raw.format !== 1) throw new Error(`format ${raw.format} is not known`);
    const roots = new Map(Object.entries(raw.stores).map(([name, root]) => [name, fromHex(root)]));
    return { height: BigInt(raw.height), appHash: fromHex(raw.appHash), roots };
  } catch (cause) {
    throw storeErrors.badMeta(undefined, { cause });
  }
}
