import { commandError, errorText, readFileStart } from "../util/index.ts";
import { SdlError, type SdlIssue } from "./errors.ts";
import { type LoadedSdl, loadSdl } from "./load.ts";
import type { ChainTerms } from "./rules/orderable.ts";
import { MAX_FILE_BYTES } from "./yaml/guard.ts";

/**
 * Reads a deployment file from disk; with a chain, as it can be ordered there.
 * @throws SdlError with every fault of the text; SvcError `cli` where there is no such file
 */
export function loadSdlFile(file: string, chain?: ChainTerms): LoadedSdl {
  const text = decodeSdl(readStart(file), file);
  return loadSdl(text, { file, ...(chain === undefined ? {} : { chain }) });
}

/** One byte more than may be read shows that the file is too large, whatever its kind. */
function readStart(file: string): Uint8Array {
  try {
    return readFileStart(file, { maxBytes: MAX_FILE_BYTES, pipes: true });
  } catch (error) {
    const hint = "give the path of a deployment file, for example examples/web.yaml";
    throw commandError(`cannot read the deployment file: ${errorText(error)}`, { hint, cause: error });
  }
}

const REPLACEMENT = "\uFFFD";

/**
 * The text of a deployment file. One that is too large is refused when it is read.
 * @throws SdlError with the place of the first byte that is not UTF-8
 */
export function decodeSdl(bytes: Uint8Array, file: string): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const valid = new TextEncoder().encode(text).every((byte, index) => byte === bytes[index]);
  if (valid || bytes.length > MAX_FILE_BYTES) return text;
  const before = text.slice(0, text.indexOf(REPLACEMENT)).split("\n");
  const issue: SdlIssue = {
    kind: "syntax",
    file,
    line: before.length,
    column: (before.at(-1) ?? "").length + 1,
    path: "",
    problem: "the file is not UTF-8 text",
    remedy: "save it as UTF-8",
  };
  throw new SdlError([issue]);
}
