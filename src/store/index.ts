export { CacheStore, type Change } from "./cache.ts";
export {
  Collection,
  type CollectionSpec,
  collection,
  type Indexes,
  type IndexSpecs,
  Item,
  type ItemSpec,
  item,
} from "./collections.ts";
export { type Database, type DatabaseSnapshot, STATE_TABLES, stateTable, type Write } from "./database.ts";
export { storeErrors } from "./errors.ts";
export { appHashOf, merkleRoot } from "./hash.ts";
export { Index, type IndexSpec, index } from "./indexes.ts";
export * from "./keys.ts";
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
export { openLmdb, storeFault } from "./lmdb.ts";
export { DatabaseLock } from "./lock.ts";
export { memoryDatabase } from "./memory.ts";
export { CacheMultiStore, type MultiBranch, type MultiReader, type MultiStore } from "./multistore.ts";
export {
  DEFAULT_PAGE_LIMIT,
  MAX_PAGE_LIMIT,
  type Page,
  type PageRequest,
  type PageResponse,
  type PageRow,
  planPage,
  takePage,
} from "./pagination.ts";
export { checkPrefixes } from "./prefixes.ts";
export { type Due, Queue, type QueueSpec, queue } from "./queue.ts";
export type { TypedRange } from "./ranges.ts";
export { Sequence, sequence } from "./sequence.ts";
export { type PreparedState, StateBranch, type StateSnapshot, StateStore } from "./state.ts";
export * from "./values.ts";
