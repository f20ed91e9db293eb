import { type GroupFault, groupsFault } from "../../sdl/index.ts";
import type { GroupSpec, Limits } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { deploymentErrors as errors } from "../../wire/index.ts";

const ERRORS: Readonly<Record<GroupFault["kind"], (text: string) => Error>> = {
  groups: errors.invalidGroups,
  spec: errors.invalidGroupSpec,
  price: errors.invalidPrice,
  name: errors.duplicateGroupName,
};

/**
 * Checks the groups of a new deployment against the limits; all prices must be in `denom`. Throws `deployment/7`, `19`,
 * `24` or `25` with the place and the limit.
 */
export function checkGroups(groups: readonly GroupSpec[], limits: Limits, denom: string): void {
  const fault = groupsFault(groups, limits, denom);
  if (fault !== undefined) throw ERRORS[fault.kind](fault.text);
}
