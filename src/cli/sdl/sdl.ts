import { marketReader } from "../../client/index.ts";
import {
  type ChainTerms,
  formatIssue,
  type LoadedSdl,
  loadSdlFile,
  manifestJson,
  SdlError,
  type SdlIssue,
} from "../../sdl/index.ts";
import { EXIT, toHex } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { createContext } from "../context/context.ts";
import type { Io } from "../terminal/io.ts";

export type SdlIo = Pick<Io, "out" | "err">;

export interface SdlFlags {
  readonly output?: "text" | "json";
  /** The chain on which the file is to be ordered. */
  readonly chain?: ChainTerms;
}

/** Terms of the chain of `--node`. */
export async function termsOfNode(input: Pick<CommandInput, "flags" | "io">): Promise<ChainTerms> {
  const chain = await createContext(input).chain();
  try {
    const { limits, minDeposits } = await marketReader(chain.query).depositTerms();
    return { limits, denoms: minDeposits.map(({ denom }) => denom) };
  } finally {
    chain.close();
  }
}

/** `sdl validate FILE`: says ok, or every fault with its place. Returns the exit code. */
export function sdlValidate(file: string, io: SdlIo, flags: SdlFlags = {}): number {
  try {
    const loaded = loadSdlFile(file, flags.chain);
    printVerdict(file, { loaded }, { io, flags });
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    printVerdict(file, { error }, { io, flags });
    return EXIT.failed;
  }
}

/** `sdl hash FILE`: the manifest hash in hexadecimal, as the chain stores it. */
export function sdlHash(file: string, io: SdlIo, { output }: SdlFlags = {}): void {
  const loaded = loadSdlFile(file);
  printWarnings(loaded.warnings, io);
  const hash = toHex(loaded.hash);
  io.out(output === "json" ? `${JSON.stringify({ hash })}\n` : `${hash}\n`);
}

/** `sdl manifest FILE`: the manifest as one line of JSON, in the form that is hashed and sent to a provider. */
export function sdlManifest(file: string, io: SdlIo): void {
  const loaded = loadSdlFile(file);
  printWarnings(loaded.warnings, io);
  io.out(`${manifestJson(loaded.manifest)}\n`);
}

/** Prints warnings about a deployment file to standard error, one per line. */
export function printWarnings(warnings: readonly SdlIssue[], io: Pick<Io, "err">): void {
  for (const warning of warnings) io.err(`Warning: ${formatIssue(warning)}\n`);
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
