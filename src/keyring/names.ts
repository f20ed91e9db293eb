import { toUtf8 } from "../util/index.ts";
import { keyringErrors } from "./errors.ts";

/** A name becomes a file name with a suffix, and most file systems stop at 255 bytes. */
const MAX_NAME_BYTES = 200;
/** Characters that a terminal would obey or hide, and the one that replaces bytes that are not text. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\ufffd]/u;
/** Parts between slashes that a path would not keep: the store of `pass` has folders. */
const NO_PART = new Set(["", ".", ".."]);
/** Anything that reads like an address would hide the key of that address. */
const LIKE_AN_ADDRESS = /^[a-z]+1[02-9ac-hj-np-z]{38,}$/;

/** Throws unless the text can name a new key. */
export function checkKeyName(name: string): void {
  if (name.trim() === "")
    throw keyringErrors.invalidName("the provided name is invalid or empty after trimming whitespace");
  const shown = JSON.stringify(name.slice(0, 80));
  if (name !== name.trim())
    throw keyringErrors.invalidName(`${shown} begins or ends with a space`, { hint: "leave out the space" });
  if (FORBIDDEN.test(name) || name.startsWith(".") || leavesItsPlace(name)) throw keyringErrors.invalidName(shown);
  if (toUtf8(name).length > MAX_NAME_BYTES)
    throw keyringErrors.invalidName(`${shown} is longer than ${MAX_NAME_BYTES} bytes`, {
      hint: "choose a shorter one",
    });
  if (LIKE_AN_ADDRESS.test(name)) throw keyringErrors.invalidName(`${shown} looks like an address`);
}

/** Whether a path of this name would lead elsewhere, or be the path of another name as well. */
export function leavesItsPlace(name: string): boolean {
  return name.split("/").some((part) => NO_PART.has(part));
}
