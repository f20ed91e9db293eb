import type {
  AppliedChunk,
  ApplySnapshotChunk,
  ConsensusParams,
  OfferSnapshot,
  RestoredState,
  Snapshot,
  SnapshotChunk,
  SnapshotConnection,
  SnapshotVerdict,
} from "../../abci/index.ts";
import type { BlockInfo } from "../../runtime/index.ts";
import {
  type Database,
  forgetState,
  OLDER_FORMAT,
  SNAPSHOT_FORMAT,
  type SnapshotDirectory,
  type SnapshotHead,
  type SnapshotTables,
  StateRestore,
  stateTable,
  storeErrors,
  type Write,
} from "../../store/index.ts";
import { assert, errorText, isOneOf } from "../../util/index.ts";
import { CONSENSUS, readLastBlock, UNHASHED_TABLE } from "../lastblock.ts";
import type { ModuleSet } from "../module-set.ts";
import { checkModuleSet, isOfFormat1, readModuleSet } from "../upgrades/module-versions.ts";

/** The snapshots that an application offers to other nodes. */
export type SnapshotSource = Pick<SnapshotDirectory, "list" | "chunk">;

export interface SnapshotParts {
  readonly database: Database;
  /** Names of the stores. */
  readonly stores: readonly string[];
  /** Undefined = none are offered. */
  readonly source: SnapshotSource | undefined;
  /** Whether there is no state yet. */
  isEmpty(): boolean;
  /** Throws if this program cannot continue with the restored state. */
  check(): void;
  /** Parameters of the next block in the restored state. */
  params(): ConsensusParams | undefined;
  /** The state is another one: restored, or removed. */
  changed(): void;
}

/** The tables of a snapshot: the stores, and in the older format a table that no hash covers. */
export function snapshotTables(stores: readonly string[], format = SNAPSHOT_FORMAT): SnapshotTables {
  return { stores, kept: format === OLDER_FORMAT ? [UNHASHED_TABLE] : [] };
}

/** Tables without a hash that an interrupted restore may have left. */
export const UNHASHED_TABLES: readonly string[] = [UNHASHED_TABLE];

const NO_CHUNK = new Uint8Array(0);
const ACCEPTED: AppliedChunk = { result: "accept", refetchChunks: [], rejectSenders: [] };
const REJECTED: AppliedChunk = { ...ACCEPTED, result: "rejectSnapshot" };
const ABORTED: AppliedChunk = { ...ACCEPTED, result: "abort" };

/** Gives snapshots of the state to other nodes, and makes a snapshot of theirs the state of a new node. */
export class Snapshots implements SnapshotConnection {
  readonly #parts: SnapshotParts;
  #restore: StateRestore | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  listSnapshots(): readonly Snapshot[] {
    const found = this.#parts.source?.list() ?? [];
    return found
      .filter(({ format }) => format === SNAPSHOT_FORMAT)
      .map(({ height, format, chunks, hash, metadata }) => ({ height, format, chunks, hash, metadata }));
  }

  loadSnapshotChunk({ chunk, ...place }: SnapshotChunk): Uint8Array {
    return this.#parts.source?.chunk(place, chunk) ?? NO_CHUNK;
  }

  /** A snapshot that is offered after another replaces it. */
  offerSnapshot({ snapshot, appHash, replaces = false }: OfferSnapshot): SnapshotVerdict {
    const { database, stores, isEmpty, changed } = this.#parts;
    if (!isEmpty() && !replaces) return "abort";
    this.#abandon();
    if (snapshot.format !== SNAPSHOT_FORMAT) return "rejectFormat";
    const tables = snapshotTables(stores);
    if (!isEmpty()) {
      forgetState(database, tables, UNHASHED_TABLES);
      changed();
    }
    try {
      this.#restore = new StateRestore({ database, tables, snapshot, appHash, others: UNHASHED_TABLES });
      return "accept";
    } catch (error) {
      if (isOneOf([storeErrors.badSnapshot], error)) return "reject";
      throw error;
    }
  }

  /** Chunks come in their order. A chunk with another hash is requested again, but not from its sender. */
  applySnapshotChunk(
    { index, chunk, sender }: ApplySnapshotChunk,
    alongside: (restored: RestoredState) => readonly Write[] = () => [],
  ): AppliedChunk {
    const restore = this.#restore;
    if (restore === undefined || index !== restore.next) return ABORTED;
    if (!restore.isNext(chunk))
      return { result: "retry", refetchChunks: [index], rejectSenders: sender === "" ? [] : [sender] };
    try {
      restore.apply(chunk);
      if (restore.isComplete) this.#finish(restore, alongside);
      return ACCEPTED;
    } catch (error) {
      this.#abandon();
      if (isOneOf([storeErrors.badSnapshot], error)) return REJECTED;
      throw error;
    }
  }

  #finish(restore: StateRestore, alongside: (restored: RestoredState) => readonly Write[]): void {
    const { database, check, changed } = this.#parts;
    const { height } = restore;
    restore.verify();
    checkRestored(database, height, check);
    const params = this.#parts.params();
    if (params === undefined) throw storeErrors.badSnapshot("it has no parameters of consensus");
    restore.finish(alongside({ height, params }));
    this.#restore = undefined;
    changed();
  }

  #abandon(): void {
    this.#restore?.abandon();
    this.#restore = undefined;
  }
}

/** Throws `store/11` if the state does not tell its own height, or this program cannot continue with it. */
function checkRestored(database: Pick<Database, "table">, height: bigint, check: () => void): void {
  try {
    if (readLastBlock(database)?.height !== height) throw new Error("the record of its block is missing");
    check();
  } catch (cause) {
    throw storeErrors.badSnapshot(errorText(cause), { cause });
  }
}

/** Facts about the block of a restored height and the next one, read before the database becomes a state. */
export interface RestoredBlock {
  readonly block: BlockInfo;
  readonly params: ConsensusParams | undefined;
}

/** The same for a restore without an application, of either format. Throws `store/11` as well. */
export function restoredBlock(
  database: Pick<Database, "table">,
  { height, format }: Pick<SnapshotHead, "height" | "format">,
  { modules, consensus }: Pick<ModuleSet, "modules" | "consensus">,
): RestoredBlock {
  checkRestored(database, height, () => {
    const versions = readModuleSet(database);
    if (format === OLDER_FORMAT && !isOfFormat1(versions)) throw new Error("its modules are not those of its format");
    checkModuleSet(versions, modules, true);
  });
  const block = readLastBlock(database);
  assert(block !== undefined, "the record of the block was read before");
  return { block, params: consensus.read(database.table(stateTable(CONSENSUS))) };
}
