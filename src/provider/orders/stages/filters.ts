import { hasCapabilities, matchAttributes, meetsRequirements } from "../../../sdl/index.ts";
import type { Dec } from "../../../util/index.ts";
import type { Attribute } from "../../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec } from "../../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { groupNeeds } from "../../inventory/index.ts";
import { Refusal } from "../order.ts";

/** Attributes that stand for something else in a deployment file, with the reason of their absence. */
const ATTRIBUTE_REASONS: Readonly<Record<string, "interconnect" | "tee">> = {
  "capabilities/gpu-interconnect": "interconnect",
  "tee/type": "tee",
};

/** Volumes that one service may have. */
const MAX_VOLUMES = 4;

/** The provider's identity and offer, as far as an order depends on them. */
export interface Offer {
  readonly attributes: readonly Attribute[];
  signedBy(auditor: string): readonly Attribute[];
  /** Attributes that an order must ask for before the provider bids on it. */
  readonly tenantAttributes: readonly Attribute[];
  /** Kinds of service that the cluster lacks. */
  readonly gpus: boolean;
  readonly leasedIps: boolean;
  /** Bytes of memory below which the cluster runs nothing. */
  readonly leastMemory: bigint;
}

/** Why the provider does not want the order, or undefined. */
export function refusal(spec: GroupSpec, offer: Offer): Refusal | undefined {
  const required = spec.requirements?.attributes ?? [];
  const missing = required.find((each) => !matchAttributes([each], offer.attributes));
  if (missing !== undefined) {
    const asked = `${missing.key}=${missing.value}`;
    return new Refusal(
      ATTRIBUTE_REASONS[missing.key] ?? "attribute",
      `the order requires attribute ${asked}, this provider does not have it`,
    );
  }
  if (!meetsRequirements(spec.requirements, offer)) return new Refusal("auditor");
  const unasked = offer.tenantAttributes.find((each) => !matchAttributes([each], required));
  if (unasked !== undefined)
    return new Refusal("unasked", `this provider serves only orders that ask for ${unasked.key}=${unasked.value}`);
  return resourceRefusal(spec, offer);
}

function resourceRefusal(spec: GroupSpec, offer: Offer): Refusal | undefined {
  const rows = groupNeeds(spec);
  if (rows.some((row) => row.gpu > 0n) && !offer.gpus)
    return new Refusal("lacking", "the order requests a gpu, this provider has none");
  if (spec.resources.some(asksForInterconnect))
    return new Refusal("interconnect", "the order requests an interconnect of GPUs, this provider has none");
  if (rows.some((row) => row.leasedIps.length > 0) && !offer.leasedIps)
    return new Refusal("lacking", "the order requests a leased ip, this provider has none");
  if (rows.some((row) => row.memory < offer.leastMemory)) {
    const least = `${offer.leastMemory >> 20n}Mi`;
    return new Refusal("memory", `a service of the order has less memory than a container needs: at least ${least}`);
  }
  if (rows.some((row) => row.volumes.length > MAX_VOLUMES))
    return new Refusal("volumeCount", `a service of the order has more than ${MAX_VOLUMES} volumes`);
  if (!hasCapabilities(spec, offer.attributes))
    return new Refusal("lacking", "the order asks for a storage or gpu class that this provider does not offer");
  return undefined;
}

/** GPUs of several hosts on one fast network: no cluster of this release gives them. */
function asksForInterconnect({ resources }: GroupSpec["resources"][number]): boolean {
  return resources?.gpu?.attributes.some(({ key }) => key.startsWith("interconnect/")) === true;
}

/** Most that the tenant pays per block for the whole group, and the denomination. */
export function highestPrice(spec: GroupSpec): { readonly denom: string; readonly amount: Dec } {
  const denom = spec.resources[0]?.price?.denom ?? "";
  // On the wire a decimal is the digits of its value times 10^18.
  const amount = spec.resources.reduce((sum, row) => sum + BigInt(row.price?.amount ?? "0") * BigInt(row.count), 0n);
  return { denom, amount };
}
