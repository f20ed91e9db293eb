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
import type { JsonObject } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { homeOf } from "../command/home.ts";
import type { Run } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { checkReadable } from "../terminal/files.ts";
import { printAs } from "../terminal/output.ts";

/** `snapshots list`: a line for each, in the words of the ecosystem's tools. */
export const snapshotsList: Run = async (input) => {
  const found = listSnapshots(homeOf(input.flags));
  const lines = found.map(({ height, format, chunks }) => `height: ${height} format: ${format} chunks: ${chunks}\n`);
  printAs(input, { snapshots: found.map(snapshotJson) }, lines.join(""));
};

/** `snapshots export`: takes one of a stopped node. */
export const snapshotsExport: Run = async (input) => {
  const { flags } = input;
  const height = flags.given("height") ? flags.uint64("height") : undefined;
  const taken = await exportSnapshot(homeOf(flags), height === 0n ? undefined : height);
  const text = `Snapshot created at height ${taken.height}, format ${taken.format}, chunks ${taken.chunks}\n`;
  printAs(input, snapshotJson(taken), text);
};

function snapshotJson({ height, format, chunks }: SnapshotPlace & { readonly chunks: number }): JsonObject {
  return { height: String(height), format, chunks };
}

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
export const snapshotsLoad: Run = async (input) => {
  const [file = ""] = input.args;
  checkReadable(file, { what: "archive of a snapshot", hint: "give the path of a file that snapshots dump wrote" });
  const loaded = await loadSnapshot(homeOf(input.flags), file);
  const { height, format, chunks } = loaded;
  printAs(input, snapshotJson(loaded), `Snapshot loaded: height ${height}, format ${format}, chunks ${chunks}\n`);
};

/** `snapshots restore <height> <format>`: makes one the state of the home. */
export const snapshotsRestore: Run = async (input) => {
  const { args, flags } = input;
  const restored = await restoreSnapshot(homeOf(flags), { ...placeOf(args), trusted: trustedHeader(flags) });
  const { height, lastHeight } = restored;
  const hash = toHexUpper(restored.appHash);
  printAs(
    input,
    { height: String(height), last_height: String(lastHeight), app_hash: hash },
    `Restored state of height ${height}, then blocks to height ${lastHeight} with app hash ${hash}\n`,
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
  if (!/^\d{1,9}$/.test(format)) throw usageError(`${format} is not a format; snapshots of this version have format 2`);
  return { height: BigInt(height), format: Number(format) };
}
