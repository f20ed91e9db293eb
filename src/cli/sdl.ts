import {
  formatIssue,
  groupPrice,
  groupsFault,
  type LoadedSdl,
  loadSdl,
  MAX_FILE_BYTES,
  manifestJson,
  SdlError,
  type SdlIssue,
  type SdlLimits,
} from "../sdl/index.ts";
import { EXIT, errorText, readFileStart, toHex } from "../util/index.ts";
import { commandError } from "./errors.ts";
import type { Io } from "./io.ts";

export type SdlIo = Pick<Io, "out" | "err">;

export interface SdlFlags {
  readonly output?: "text" | "json";
}

/** `sdl validate FILE`: says ok, or every fault with its place. Returns the exit code. */
export function sdlValidate(file: string, io: SdlIo, flags: SdlFlags = {}): number {
  try {
    const loaded = loadSdlFile(file);
    printVerdict(file, { loaded }, { io, flags });
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    printVerdict(file, { error }, { io, flags });
    return EXIT.failed;
  }
}

/** `sdl hash FILE`: the manifest hash in hexadecimal, as it stands on the chain. */
export function sdlHash(file: string, io: SdlIo): void {
  const loaded = loadSdlFile(file);
  printWarnings(loaded.warnings, io);
  io.out(`${toHex(loaded.hash)}\n`);
}

/** `sdl manifest FILE`: the manifest as one line of JSON, in the form that is hashed and sent to a provider. */
export function sdlManifest(file: string, io: SdlIo): void {
  const loaded = loadSdlFile(file);
  printWarnings(loaded.warnings, io);
  io.out(`${manifestJson(loaded.manifest)}\n`);
}

/** Prints warnings about a deployment file to standard error, one a line. */
export function printWarnings(warnings: readonly SdlIssue[], io: Pick<Io, "err">): void {
  for (const warning of warnings) io.err(`Warning: ${formatIssue(warning)}\n`);
}

/**
 * Reads a deployment file from disk.
 * @throws SdlError with every fault of the text; SvcError `cli` where there is no such file
 */
export function loadSdlFile(file: string, limits?: SdlLimits): LoadedSdl {
  const text = decodeText(readStart(file), file);
  return loadSdl(text, { file, ...(limits === undefined ? {} : { limits }) });
}

/**
 * Refuses a deployment that the limits of its chain refuse, before anything is signed for it. The defaults were checked
 * when the file was read.
 * @throws SdlError with the places in the file
 */
export function requireWithinLimits(
  { file, sdl }: { readonly file: string; readonly sdl: LoadedSdl },
  limits: SdlLimits,
): void {
  const [first] = sdl.groups;
  const fault = groupsFault(sdl.groups, limits, first === undefined ? "" : groupPrice(first).denom);
  if (fault === undefined) return;
  loadSdlFile(file, limits);
  throw commandError(`${file}: the chain refuses it: ${fault.text}`);
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

function decodeText(bytes: Uint8Array, file: string): string {
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

interface Verdict {
  readonly loaded?: LoadedSdl;
  readonly error?: SdlError;
}

interface Printing {
  readonly io: SdlIo;
  readonly flags: SdlFlags;
}

function printVerdict(file: string, { loaded, error }: Verdict, { io, flags }: Printing): void {
  const warnings = loaded?.warnings ?? error?.warnings ?? [];
  if (flags.output === "json") {
    const result = loaded === undefined ? { errors: error?.issues ?? [] } : { hash: toHex(loaded.hash) };
    io.out(`${JSON.stringify({ ok: loaded !== undefined, file, ...result, warnings })}\n`);
    return;
  }
  printWarnings(warnings, io);
  for (const issue of error?.issues ?? []) io.err(`Error: ${formatIssue(issue)}\n`);
  if (loaded !== undefined) io.out(`${file}: ok (${summary(loaded)})\n`);
}

function summary({ version, manifest }: LoadedSdl): string {
  const services = manifest.flatMap((group) => group.services);
  const replicas = services.reduce((sum, service) => sum + service.count, 0);
  const parts = [plural(manifest.length, "group"), plural(services.length, "service"), plural(replicas, "replica")];
  return `version ${version}, ${parts.join(", ")}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
