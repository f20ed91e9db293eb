import type { Refusal } from "../view/refusals.ts";

/** What MetalLB says of addresses, in the order in which it counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/\bin use\b|\bsharing\b/, "somebody else on the provider's cluster has it"],
  [
    /not allowed in config|not compatible|no available IPs|no suitable pool/,
    "the provider's load balancer does not hand it out",
  ],
];
const UNKNOWN = "the provider's load balancer refuses it";

/** Why a service does not get its address, for its tenant: load balancers name services of others and the cluster's pools. */
export function refusalText(refusal: Pick<Refusal, "reason" | "message"> | undefined): string | undefined {
  if (refusal === undefined) return undefined;
  const { reason, message } = refusal;
  const [, meaning = UNKNOWN] = MEANINGS.find(([pattern]) => pattern.test(message)) ?? [];
  return `${meaning} (${reason}); ask the provider`;
}
