import { readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { sha256 } from "../crypto/index.ts";
import { errorText, type Logger, makePrivateDirectory, replaceFile, toHex, toUtf8 } from "../util/index.ts";
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

/** Moves a file that cannot be used out of the way, for the operator, and tells why. `what`: the file in words. */
export function setAside(path: string, what: string, { suffix, cause, log }: SetAside): void {
  const aside = `${path}.${suffix}`;
  const told = { file: basename(aside), err: errorText(cause) };
  try {
    rmSync(aside, { recursive: true, force: true });
    renameSync(path, aside);
    log.error(`${what} is ${suffix} and was set aside`, told);
  } catch (error) {
    log.error(`${what} is ${suffix} and cannot be set aside`, { ...told, rename: errorText(error) });
  }
}

interface SetAside {
  /** The fault, as the end of its new name. */
  readonly suffix: "damaged" | "unreadable";
  readonly cause: unknown;
  readonly log: Logger;
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
