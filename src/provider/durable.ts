import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorText, makePrivateDirectory, replaceFile } from "../util/index.ts";
import { daemonErrors } from "./errors.ts";

/** Bigints are written to the file as `{"bigint":"12"}`. */
const BIGINT_TAG = "bigint";

/** Replaces a JSON file as a whole, durably: after a crash it holds the old value or the new one. */
export function saveJson(path: string, value: unknown): void {
  makePrivateDirectory(dirname(path));
  replaceFile(path, encodeJson(value));
}

/** JSON in one line. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, tagBigint);
}

/** The value of a text that `encodeJson` made. Throws on anything else. */
export function decodeJson(text: string): unknown {
  return JSON.parse(text, untagBigint);
}

/** Throws `unreadable`, which says nothing about what the file holds. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw daemonErrors.unreadable(`${path}: ${errorText(cause)}`, { cause });
  }
}

/** The value in the text of a file that `saveJson` wrote. Throws `damagedFile`. */
export function parseJson(path: string, text: string): unknown {
  try {
    return decodeJson(text);
  } catch (cause) {
    throw daemonErrors.damagedFile(path, { cause });
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
