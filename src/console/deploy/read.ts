import {
  type ChainTerms,
  decodeSdl,
  formatIssue,
  type LoadedSdl,
  loadSdl,
  MAX_FILE_BYTES,
  SdlError,
} from "../../sdl/index.ts";
import { fingerprintOf, textRequest } from "../../tenant/index.ts";

/** The workflow is another file of the bundle, which the reader does not need. */
export { fingerprintOf, textRequest };

/** The reader of deployment files with its YAML: loaded with the page that edits one. */

/** A fault or warning of a file: its place, counted from 1, and the sentence of `svc sdl validate`. */
export interface Remark {
  readonly line: number;
  readonly column: number;
  /** `services.web.image`, or empty for the file as a whole. */
  readonly path: string;
  readonly sentence: string;
}

/** A deployment file as it was read: what it says, or every fault of it. */
export type Reading = { readonly warnings: readonly Remark[] } & (
  | { readonly sdl: LoadedSdl; readonly faults: readonly [] }
  | { readonly sdl: undefined; readonly faults: readonly Remark[] }
);

/** Reads a file for a chain, or by itself where the chain's terms are not known. */
export function readDraft(text: string, file: string, chain: ChainTerms | undefined): Reading {
  try {
    const sdl = loadSdl(text, chain === undefined ? { file } : { file, chain });
    return { sdl, faults: [], warnings: sdl.warnings.map(remark) };
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    return { sdl: undefined, faults: error.issues.map(remark), warnings: error.warnings.map(remark) };
  }
}

/** The text of an opened file, or why it is none. */
export async function readFile(file: File): Promise<string | Remark> {
  // One byte more than may be read shows that the file is too large.
  const bytes = new Uint8Array(await file.slice(0, MAX_FILE_BYTES + 1).arrayBuffer());
  try {
    return decodeSdl(bytes, file.name);
  } catch (error) {
    const [issue] = error instanceof SdlError ? error.issues : [];
    if (issue === undefined) throw error;
    return remark(issue);
  }
}

function remark(issue: SdlError["issues"][number]): Remark {
  const { line, column, path } = issue;
  return { line, column, path, sentence: formatIssue(issue) };
}
