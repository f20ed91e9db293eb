import { join, resolve } from "node:path";
import {
  deleteSnapshot,
  dumpSnapshot,
  exportSnapshot,
  listSnapshots,
  loadSnapshot,
  restoreSnapshot,
} from "../../node/index.ts";
import { archiveFile, type SnapshotPlace } from "../../store/index.ts";
import { fromHex, toHexUpper } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { homeOf } from "../command/home.ts";
import type { Run } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { checkReadable } from "../terminal/files.ts";

/** `snapshots list`: a line for each, in the words of the ecosystem's tools. */
export const snapshotsList: Run = async ({ flags, io }) => {
  for (const { height, format, chunks } of listSnapshots(homeOf(flags)))
    io.out(`height: ${height} format: ${format} chunks: ${chunks}\n`);
};

/** `snapshots export`: takes one of a stopped node. */
export const snapshotsExport: Run = async ({ flags, io }) => {
  const height = flags.given("height") ? flags.uint64("height") : undefined;
  const taken = await exportSnapshot(homeOf(flags), height === 0n ? undefined : height);
  io.out(`Snapshot created at height ${taken.height}, format ${taken.format}, chunks ${taken.chunks}\n`);
};

/** `snapshots delete <height> <format>`. */
export const snapshotsDelete: Run = async ({ args, flags }) => {
  deleteSnapshot(homeOf(flags), placeOf(args));
};

/** `snapshots dump <height> <format>`: writes an archive. */
export const snapshotsDump: Run = async ({ args, flags, io }) => {
  const place = placeOf(args);
  const file = resolve(flags.optional("output") ?? join(".", archiveFile(place)));
  await dumpSnapshot(homeOf(flags), place, file);
  io.err(`wrote ${file}\n`);
};

/** `snapshots load <archive-file>`. */
export const snapshotsLoad: Run = async ({ args: [file = ""], flags, io }) => {
  checkReadable(file, { what: "archive of a snapshot", hint: "give the path of a file that snapshots dump wrote" });
  const { height, format, chunks } = await loadSnapshot(homeOf(flags), file);
  io.out(`Snapshot loaded: height ${height}, format ${format}, chunks ${chunks}\n`);
};

/** `snapshots restore <height> <format>`: makes one the state of the home. */
export const snapshotsRestore: Run = async ({ args, flags, io }) => {
  const restored = await restoreSnapshot(homeOf(flags), { ...placeOf(args), trusted: trustedHeader(flags) });
  const { height, lastHeight, appHash } = restored;
  io.out(
    `Restored state of height ${height}, then blocks to height ${lastHeight} with app hash ${toHexUpper(appHash)}\n`,
  );
};

function trustedHeader(flags: Flags) {
  const hash = flags.optional("trust-hash");
  const height = flags.uint64("trust-height");
  if (hash === undefined && height === 0n) return undefined;
  if (hash === undefined || height === 0n)
    throw usageError(
      "--trust-height and --trust-hash must be used together",
      "give the height of a block and its hash",
    );
  if (!/^[0-9a-fA-F]{64}$/.test(hash))
    throw usageError("--trust-hash: write the 64 hexadecimal digits of a block's hash");
  return { height, hash: fromHex(hash.toLowerCase()) };
}

function placeOf([height = "", format = ""]: readonly string[]): SnapshotPlace {
  if (!/^[1-9]\d{0,18}$/.test(height))
    throw usageError(`${height} is not a height; see the heights with svc snapshots list`);
  if (!/^\d{1,9}$/.test(format)) throw usageError(`${format} is not a format; snapshots of this version have format 1`);
  return { height: BigInt(height), format: Number(format) };
}
