import { commandError } from "../util/index.ts";
import type { LoadedSdl } from "./load.ts";
import { groupPrice } from "./plan/price.ts";
import { groupsFault } from "./rules/chain-rules.ts";
import type { ChainTerms } from "./rules/orderable.ts";

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
