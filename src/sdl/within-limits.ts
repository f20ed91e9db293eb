import { commandError } from "../util/index.ts";
import type { SdlLimits } from "./limits.ts";
import type { LoadedSdl } from "./load.ts";
import { groupPrice } from "./plan/price.ts";
import { groupsFault } from "./rules/chain-rules.ts";

/** A deployment and where it was read. */
export interface SdlSource {
  /** Path of the deployment file. */
  readonly file: string;
  readonly sdl: LoadedSdl;
  /** Reads the file again, with other limits: its errors name their places. */
  readonly reread: (limits: SdlLimits) => LoadedSdl;
}

/**
 * Refuses a deployment that exceeds the limits of its chain, before anything is signed for it. The defaults were
 * checked when the file was read.
 * @throws SdlError with the places in the file
 */
export function requireWithinLimits({ file, sdl, reread }: SdlSource, limits: SdlLimits): void {
  const [first] = sdl.groups;
  const fault = groupsFault(sdl.groups, limits, first === undefined ? "" : groupPrice(first).denom);
  if (fault === undefined) return;
  reread(limits);
  throw commandError(`${file}: the chain refuses it: ${fault.text}`);
}
