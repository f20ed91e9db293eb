import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { sha256 } from "../crypto/index.ts";
import { errorText, makePrivateDirectory, replaceFile, toHex, toUtf8 } from "../util/index.ts";
import { daemonErrors } from "./errors.ts";

/** Bigints are written to the file as `{"bigint":"12"}`. */
const BIGINT_TAG = "bigint";

const CHECKSUM_BYTES = 8;

/** Replaces a JSON file as a whole, durably: after a crash it holds the old value or the new one. */
export function saveJson(path: string, value: unknown): void {
  makePrivateDirectory(dirname(path));
  const text = encodeJson(value);
  replaceFile(path, `${text}\n${checksum(text)}\n`);
}

/** Shows whether the disk has changed a text: a changed digit is still a digit. */
export function checksum(text: string): string {
  return toHex(sha256(toUtf8(text)).subarray(0, CHECKSUM_BYTES));
}

/** JSON in one line. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, tagBigint);
}

/** The value of a text that `encodeJson` made. Throws on anything else. */
export function decodeJson(text: string): unknown {
  return JSON.parse(text, untagBigint);
}

/** Throws `unreadable`, which reveals nothing of the file's contents. */
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
    const [body = "", sum = "", ...more] = text.split("\n");
    // Older releases wrote the value alone.
    if (sum !== "" && (sum !== checksum(body) || more.join("") !== "")) throw new Error("its checksum is another");
    return decodeJson(body);
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
