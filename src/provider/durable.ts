import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateDirectory } from "../util/index.ts";
import { daemonErrors } from "./errors.ts";

/** Bigints stand in the file as `{"bigint":"12"}`. */
const BIGINT_TAG = "bigint";

/** Replaces a JSON file as a whole, durably: after a crash it holds the old value or the new one. */
export function saveJson(path: string, value: unknown): void {
  makePrivateDirectory(dirname(path));
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, JSON.stringify(value, tagBigint));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

/** The value saved last, or undefined. A file that is no JSON throws: nobody guesses what it held. */
export function loadJson(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8"), untagBigint);
  } catch (cause) {
    throw daemonErrors.damagedFile(path, { cause });
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function tagBigint(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? { [BIGINT_TAG]: value.toString() } : value;
}

function untagBigint(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  return entries.length === 1 && only?.[0] === BIGINT_TAG && typeof only[1] === "string" ? BigInt(only[1]) : value;
}
