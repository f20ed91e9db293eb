import type { Attribute, PlacementRequirements, ResourceUnits } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { matchAttributes } from "../read/attributes.ts";

/** Facts about a provider that are compared with an order. */
export interface Candidate {
  /** Its current attributes. */
  readonly attributes: readonly Attribute[];
  /** Attributes of the provider that the auditor has signed; empty if there are none. */
  signedBy(auditor: string): readonly Attribute[];
}

/**
 * Whether a provider meets what a group requires of its host. The provider must have every required attribute now;
 * where auditors are named, each of `all_of` and at least one of `any_of` must also have signed it, so that a signature
 * over an attribute that has changed since does not count.
 */
export function meetsRequirements(requirements: PlacementRequirements | undefined, candidate: Candidate): boolean {
  const required = requirements?.attributes ?? [];
  const { allOf = [], anyOf = [] } = requirements?.signedBy ?? {};
  const vouched = (auditor: string): boolean => {
    const current = candidate.signedBy(auditor).filter((signed) => matchAttributes([signed], candidate.attributes));
    return current.length > 0 && matchAttributes(required, current);
  };
  if (!matchAttributes(required, candidate.attributes)) return false;
  return allOf.every(vouched) && (anyOf.length === 0 || anyOf.some(vouched));
}

const STORAGE = "capabilities/storage/";
const GPU = "capabilities/gpu/";

/**
 * Whether a provider's capability attributes cover the volumes and graphics processors of a group: a persistent volume
 * needs one `capabilities/storage/<n>/` with its class and persistence, a graphics processor any one of its models under
 * `capabilities/gpu/`. Volumes that live and die with the container need nothing.
 */
export function hasCapabilities(spec: GroupSpec, attributes: readonly Attribute[]): boolean {
  return spec.resources.every(({ resources }) => {
    return resources === undefined || (hasStorage(resources, attributes) && hasGpu(resources, attributes));
  });
}

function hasStorage({ storage }: ResourceUnits, attributes: readonly Attribute[]): boolean {
  const offers = new Map<string, Attribute[]>();
  for (const { key, value } of attributes) {
    if (!key.startsWith(STORAGE)) continue;
    const [name = "", ...rest] = key.slice(STORAGE.length).split("/");
    offers.set(name, [...(offers.get(name) ?? []), asAttribute(rest.join("/"), value)]);
  }
  return storage.filter(isPersistent).every((volume) => {
    return [...offers.values()].some((offer) => matchAttributes(volume.attributes, offer));
  });
}

function isPersistent({ attributes }: { readonly attributes: readonly Attribute[] }): boolean {
  return attributes.some(({ key, value }) => key === "persistent" && value === "true");
}

function hasGpu({ gpu }: ResourceUnits, attributes: readonly Attribute[]): boolean {
  // How GPUs are connected is a requirement of the placement.
  const wanted = (gpu?.attributes ?? []).filter(({ key }) => !key.startsWith("interconnect/"));
  const offered = attributes
    .filter(({ key }) => key.startsWith(GPU))
    .map(({ key, value }) => asAttribute(key.slice(GPU.length), value));
  return wanted.length === 0 || wanted.some((each) => matchAttributes([each], offered));
}

function asAttribute(key: string, value: string): Attribute {
  return { $typeName: "svc.base.v1beta1.Attribute", key, value };
}
