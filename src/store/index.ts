export * from "./codec/keys.ts";
export * from "./codec/values.ts";
export {
  Collection,
  type CollectionSpec,
  collection,
  type Indexes,
  type IndexSpecs,
  Item,
  type ItemSpec,
  item,
} from "./collections/collections.ts";
export { DecodedValues, decodedStores } from "./collections/decoded.ts";
export { Index, type IndexSpec, index } from "./collections/indexes.ts";
export {
  DEFAULT_PAGE_LIMIT,
  MAX_PAGE_LIMIT,
  type Page,
  type PageRequest,
  type PageResponse,
  type PageRow,
  planPage,
  takePage,
} from "./collections/pagination.ts";
export { checkPrefixes } from "./collections/prefixes.ts";
export { type Due, dueTime, Queue, type QueueSpec, queue, queueTime } from "./collections/queue.ts";
export type { TypedRange } from "./collections/ranges.ts";
export { Sequence, sequence } from "./collections/sequence.ts";
export {
  type Database,
  type DatabaseReader,
  type DatabaseSnapshot,
  pathTable,
  stateTable,
  type Write,
} from "./database/database.ts";
export { deflatedTable } from "./database/deflated.ts";
export { openLmdb, openLmdbReader, storeFault } from "./database/lmdb.ts";
export { DatabaseLock } from "./database/lock.ts";
export { copyMemoryDatabase, memoryDatabase } from "./database/memory.ts";
export { DatabaseFault, storeErrors } from "./errors.ts";
export { HISTORY_TABLES } from "./history/epochs.ts";
export { lowestHeight, type PastTables, pastTables } from "./history/past.ts";
export {
  lowestKept,
  MIN_KEEP_RECENT,
  MIN_PRUNING_INTERVAL,
  PRUNING_STRATEGIES,
  type Pruning,
} from "./history/pruning.ts";
export {
  type Entry,
  firstEntry,
  type KVReader,
  type KVStore,
  MAX_KEY_BYTES,
  prefixEnd,
  prefixRange,
  type Range,
} from "./kv.ts";
export { CacheStore, type Change } from "./layers/cache.ts";
export { CacheMultiStore, type MultiBranch, type MultiReader, type MultiStore } from "./layers/multi-store.ts";
export { type ArchiveFiles, archiveFile, loadArchive, writeArchive } from "./snapshots/archive.ts";
export {
  blockFile,
  SnapshotDirectory,
  type SnapshotPlace,
  type SnapshotRecord,
  type Staging,
} from "./snapshots/directory.ts";
export { MAX_CHUNK_BYTES, OLDER_FORMAT, SNAPSHOT_FORMAT, type SnapshotHead } from "./snapshots/form.ts";
export { clearRestore, forgetState, type RestoreParts, StateRestore } from "./snapshots/restore.ts";
export { type SnapshotTables, takeSnapshot } from "./snapshots/take.ts";
export {
  type Alongside,
  type PreparedState,
  type ProvenValue,
  StateBranch,
  type StateOptions,
  type StateSnapshot,
  StateStore,
} from "./state.ts";
export { appHashOf, merkleRoot } from "./tree/hash.ts";
