import { commandError } from "../util/index.ts";
import type { GroupSpec } from "../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { SdlIssue } from "./errors.ts";
import { DEFAULT_LIMITS, type SdlLimits } from "./limits.ts";
import type { Manifest } from "./manifest.ts";
import type { SdlVersion } from "./model.ts";
import { deriveManifest } from "./plan/derive.ts";
import { deriveGroups } from "./plan/groups.ts";
import { manifestHash } from "./plan/hash.ts";
import { planGroups } from "./plan/plan.ts";
import { groupPrice } from "./plan/price.ts";
import { parseSdl } from "./read/parse.ts";
import { Report } from "./report.ts";
import { groupsFault } from "./rules/chain-rules.ts";
import { checkGroups, checkOnChain } from "./rules/group-rules.ts";
import { type ChainTerms, checkOrderable } from "./rules/orderable.ts";
import { checkReferences } from "./rules/references.ts";

/** How a deployment file is read. */
export interface LoadOptions {
  /** Name of the file in errors. */
  readonly file?: string;
  /** Limits of the chain that the deployment is meant for; the default parameters where left out. */
  readonly limits?: SdlLimits;
  /**
   * The chain on which the deployment is to be ordered: what cannot be ordered there is a fault. Where it is left out, only
   * what the file says is judged, and auditors and coins of other networks are warnings.
   */
  readonly chain?: ChainTerms;
}

/** A deployment file in the forms that the chain and the provider take. */
export interface LoadedSdl {
  readonly version: SdlVersion;
  readonly manifest: Manifest;
  /** One per placement, sorted by name, as the groups of the manifest are. */
  readonly groups: readonly GroupSpec[];
  /** 32 bytes; the version of the deployment on the chain. */
  readonly hash: Uint8Array;
  /** Seconds; 0 where the file asks for none. */
  readonly reclaimMinWindowSeconds: bigint;
  /** Warnings about probable mistakes, in the order of the file. */
  readonly warnings: readonly SdlIssue[];
}

/**
 * Reads the text of a deployment file (version 2.0 or 2.1).
 * @throws SdlError with every fault found, each with line, column, value and remedy
 */
export function loadSdl(text: string, options: LoadOptions = {}): LoadedSdl {
  const { chain } = options;
  const limits = options.limits ?? chain?.limits ?? DEFAULT_LIMITS;
  const report = new Report(options.file ?? "deployment file");
  const file = parseSdl(text, report, limits);
  if (file !== undefined) checkReferences(file, report);
  report.check();
  if (file === undefined) throw new Error("a file without faults was not read");
  const plan = planGroups(file);
  checkGroups(file, plan, { report, limits });
  checkOrderable(plan, { report, chain });
  report.check();
  const groups = deriveGroups(plan);
  checkOnChain(groups, plan, { report, limits });
  report.check();
  const manifest = deriveManifest(plan);
  return {
    version: file.version,
    manifest,
    groups,
    hash: manifestHash(manifest),
    reclaimMinWindowSeconds: file.reclaimMinWindowSeconds,
    warnings: report.warnings,
  };
}

/**
 * The hash of a deployment file's manifest (32 bytes), which the deployment carries on the chain as its version.
 * @throws SdlError as `loadSdl` does
 */
export function sdlHash(text: string, options: LoadOptions = {}): Uint8Array {
  return loadSdl(text, options).hash;
}

/** A deployment and where it was read. */
export interface SdlSource {
  /** Path of the deployment file. */
  readonly file: string;
  readonly sdl: LoadedSdl;
  /** Reads the file again, for a chain: its errors name their places. */
  readonly reread: (chain: ChainTerms) => LoadedSdl;
}

/**
 * Refuses a deployment that cannot be ordered on its chain, before anything is signed for it.
 * @throws SdlError with the places in the file
 */
export function requireOrderable({ file, sdl, reread }: SdlSource, chain: ChainTerms): void {
  const problem = whyNot(sdl, chain);
  if (problem === undefined) return;
  reread(chain);
  throw commandError(`${file}: the chain refuses it: ${problem}`);
}

function whyNot({ groups, manifest }: LoadedSdl, { limits, denoms }: ChainTerms): string | undefined {
  const [first] = groups;
  const denom = first === undefined ? "" : groupPrice(first).denom;
  const fault = groupsFault(groups, limits, denom);
  if (fault !== undefined) return fault.text;
  if (!denoms.includes(denom)) return `prices are in ${denom}`;
  const services = manifest.flatMap((group) => group.services);
  return services.some(({ params }) => params?.permissions !== undefined) ? "it asks for permissions" : undefined;
}
