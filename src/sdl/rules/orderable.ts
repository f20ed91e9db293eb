import { NATIVE_DENOM } from "../../util/index.ts";
import { isAddress } from "../../wire/index.ts";
import { show } from "../errors.ts";
import { DEFAULT_LIMITS, type SdlLimits } from "../limits.ts";
import type { AuditorDecl } from "../model.ts";
import type { GroupPlan } from "../plan/plan.ts";
import { AUDITOR_REMEDY } from "../read/placement.ts";
import type { Complaint, Place, Report } from "../report.ts";

/** A chain's requirements of deployments. */
export interface ChainTerms {
  readonly limits: SdlLimits;
  /** Denominations of deposits, and so of prices. */
  readonly denoms: readonly string[];
}

/** A chain with the default parameters. */
export const DEFAULT_TERMS: ChainTerms = { limits: DEFAULT_LIMITS, denoms: [NATIVE_DENOM] };

/**
 * Finds reasons why a valid file cannot be ordered here: auditors and coins of other networks, and capabilities that no
 * provider offers. Without a chain these are warnings, because hash and manifest do not depend on them.
 */
export function checkOrderable(
  groups: readonly GroupPlan[],
  { report, chain }: { readonly report: Report; readonly chain: ChainTerms | undefined },
): void {
  const say = (place: Place, complaint: Complaint): void => {
    if (chain === undefined) report.warn(place, "value", complaint);
    else report.error(place, "value", complaint);
  };
  const denoms = chain?.denoms ?? DEFAULT_TERMS.denoms;
  for (const { placement, units, services } of groups) {
    for (const auditor of [...placement.anyOf, ...placement.allOf].filter(isForeign)) {
      const problem = `${show(auditor.address)} is an address of another network`;
      say(auditor.place, { problem, remedy: AUDITOR_REMEDY });
    }
    for (const price of new Set(units.map((unit) => unit.price))) {
      if (denoms.includes(price.denom)) continue;
      const problem = `prices and deposits are not in ${show(price.denom)} on this chain`;
      say(price.place, { problem, remedy: `write denom: ${denoms.join(" or ")}, and an amount in it` });
    }
    for (const { service } of services) {
      const place = service.params?.permissionsPlace;
      if (place === undefined || (service.params?.permissions ?? []).length === 0) continue;
      const problem = "no provider lets programs read from its cluster";
      say(place, { problem, remedy: "remove permissions: programs run without them" });
    }
  }
}

/** An auditor that was read as an address but is none here belongs to another network. */
export function isForeign({ address }: Pick<AuditorDecl, "address">): boolean {
  return !isAddress(address);
}
