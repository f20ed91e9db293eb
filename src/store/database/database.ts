import type { KVReader } from "../kv.ts";

/** One change to one table; a `null` value deletes. */
export interface Write {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Tables as they were at one moment, whatever is written later. Must be closed: it holds old pages or values alive. */
export interface DatabaseSnapshot {
  table(name: string): KVReader;
  close(): void;
}

/** A durable set of named tables with atomic writes. All methods are synchronous. */
export interface Database {
  /** A table's current content; a table that was never written is empty. */
  table(name: string): KVReader;
  /**
   * One transaction over all tables: after the call everything is on disk, after a crash all of it or nothing. `bulk` comes
   * before the others and may be made while it is written; its tables are ones that were read before.
   */
  write(writes: readonly Write[], bulk?: Iterable<Write>): void;
  snapshot(): DatabaseSnapshot;
  /** Frees the directory for other processes. Using the database afterwards throws. */
  close(): void;
}

/** Tables of a database that another thread or process writes, as they were at the first read after the last refresh. */
export interface DatabaseReader {
  table(name: string): KVReader;
  /** The next read sees the last commit, and those after it the same. */
  refresh(): void;
  close(): void;
}

/** Prefix of the tables that hold consensus state. */
export const STATE_TABLES = "state/";

/** Prefix of the tables that hold the key of each path of the commitment: it is the hash of the key, which proofs show. */
export const PATH_TABLES = "paths/";

export function pathTable(store: string): string {
  return PATH_TABLES + store;
}

export function stateTable(store: string): string {
  return STATE_TABLES + store;
}
