import { isObject, type JsonObject, printJson, readJson } from "../../../wire/index.ts";
import { nearest } from "../../command/words/suggest.ts";
import { commandError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";

const MAX_BYTES = 64 * 1024;
const HINT =
  'write {"pubkey": {"@type": "...", "key": "..."}, "amount": "1000000utoken", "moniker": "..."}, the key as the node prints it';

/** Keys of the file whose names differ from their flag. */
const FLAG_OF: Readonly<Record<string, string>> = { security: "security-contact" };

/** The values in a file of `tx staking create-validator`, by the names of the matching flags. */
export function readValidatorFile(path: string, flagNames: readonly string[]): ReadonlyMap<string, string> {
  const text = readTextFile(path, {
    what: "validator file",
    maxBytes: MAX_BYTES,
    hint: "give the path of a JSON file",
  });
  const entries = Object.entries(readObject(path, text)).map(([key, value]): [string, string] => {
    const flag = FLAG_OF[key] ?? key;
    if (!flagNames.includes(flag)) throw unknownKey(path, key, flagNames);
    if (key === "pubkey" && isObject(value)) return [flag, printJson(value)];
    if (typeof value !== "string") throw commandError(`validator file ${path}: "${key}" is not text`, { hint: HINT });
    return [flag, value];
  });
  return new Map(entries);
}

function readObject(path: string, text: string): JsonObject {
  try {
    const json = readJson(text);
    if (isObject(json)) return json;
  } catch (cause) {
    throw commandError(`validator file ${path} is not JSON`, { hint: HINT, cause });
  }
  throw commandError(`validator file ${path} does not hold an object`, { hint: HINT });
}

function unknownKey(path: string, key: string, known: readonly string[]): Error {
  const close = nearest(key, known);
  const hint = close === undefined ? `it may have ${known.join(", ")}` : `did you mean "${close}"?`;
  return commandError(`validator file ${path}: unknown key ${JSON.stringify(key.slice(0, 64))}`, { hint });
}
