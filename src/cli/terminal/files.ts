import { accessSync, constants, statSync } from "node:fs";
import { errorText, fromUtf8, readFileStart } from "../../util/index.ts";
import { commandError } from "../errors.ts";

export interface FileWant {
  /** Kind of the file, for errors: `transaction file`. */
  readonly what: string;
  readonly maxBytes: number;
  /** The remedy when it cannot be read. */
  readonly hint?: string;
}

const FILE_HINT = "check that the path is right, and that it is a file that you may read";

/** The text of a file, or of a pipe. Throws one sentence when it cannot be read, is too large or is not text. */
export function readTextFile(path: string, want: FileWant): string {
  const bytes = readBytes(path, want);
  if (bytes.length > want.maxBytes)
    throw commandError(`${want.what} ${path} is larger than ${want.maxBytes} bytes`, {
      hint: "is it the right file?",
    });
  try {
    return fromUtf8(bytes).replace(/^\uFEFF/, "");
  } catch (cause) {
    throw commandError(`${want.what} ${path} is not UTF-8 text`, { hint: "save it as UTF-8", cause });
  }
}

/** Throws one sentence when a file that is read later, as a stream, is not there or may not be read. */
export function checkReadable(path: string, { what, hint = FILE_HINT }: Omit<FileWant, "maxBytes">): void {
  try {
    accessSync(path, constants.R_OK);
    if (statSync(path).isDirectory()) throw new Error(`${path} is a directory`);
  } catch (cause) {
    throw commandError(`cannot read the ${what}: ${errorText(cause)}`, { cause, hint });
  }
}

function readBytes(path: string, { what, maxBytes, hint }: FileWant): Uint8Array {
  try {
    return readFileStart(path, { maxBytes, pipes: true });
  } catch (cause) {
    throw commandError(`cannot read the ${what}: ${errorText(cause)}`, { cause, hint: hint ?? FILE_HINT });
  }
}
