import { fromHex, fromUtf8, isOneOf, toHex, toUtf8 } from "../util/index.ts";
import type { Database, Write } from "./database/database.ts";
import { storeErrors } from "./errors.ts";

/** Table and key of the record of the last commit. */
export const META_TABLE = "commit";
const META_KEY = toUtf8("last");
/** Present while a snapshot is being restored. */
const RESTORING = toUtf8("restoring");
/** Format of the tables: version 1 had values without bytes, and no keys of paths. */
const FORMAT = 2;

/** The record of the last commit. */
export interface Meta {
  readonly height: bigint;
  readonly appHash: Uint8Array;
  readonly roots: ReadonlyMap<string, Uint8Array>;
}

/** Text, so that a damaged data directory can be read with any tool. */
export function metaWrite({ height, appHash, roots }: Meta): Write {
  const stores = Object.fromEntries([...roots].map(([name, root]) => [name, toHex(root)]));
  const text = JSON.stringify({ format: FORMAT, height: `${height}`, appHash: toHex(appHash), stores });
  return { table: META_TABLE, key: META_KEY, value: toUtf8(text) };
}

export function metaRemoval(): Write {
  return { table: META_TABLE, key: META_KEY, value: null };
}

/** Throws `store/8` when the tables have another form, `store/5` when the record cannot be read. */
export function readMeta(database: Database): Meta | undefined {
  const bytes = database.table(META_TABLE).get(META_KEY);
  if (bytes === undefined) return undefined;
  try {
    const raw: { format: number; height: string; appHash: string; stores: Record<string, string> } = JSON.parse(
      fromUtf8(bytes),
    );
    if (raw.format !== FORMAT) throw storeErrors.otherFormat(`the data directory has format ${raw.format}`);
    const roots = new Map(Object.entries(raw.stores).map(([name, root]) => [name, fromHex(root)]));
    return { height: BigInt(raw.height), appHash: fromHex(raw.appHash), roots };
  } catch (cause) {
    if (isOneOf([storeErrors.otherFormat], cause)) throw cause;
    throw storeErrors.badMeta(undefined, { cause });
  }
}

/** Whether a snapshot is being restored, or its restore was interrupted. */
export function isRestoring(database: Pick<Database, "table">): boolean {
  return database.table(META_TABLE).get(RESTORING) !== undefined;
}

export function restoringWrite(isRestored: boolean): Write {
  return { table: META_TABLE, key: RESTORING, value: isRestored ? toUtf8("1") : null };
}
