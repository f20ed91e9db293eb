import { create } from "@bufbuild/protobuf";
import { toUtf8 } from "../../util/index.ts";
import { Endpoint_Kind } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { Attribute, ManifestEndpoint } from "../manifest.ts";
import type { AuditorDecl, ComputeDecl } from "../model.ts";
import { compare } from "../text.ts";
import type { GroupPlan, UnitPlan } from "./plan.ts";

/** The groups of an order on the chain. Prices are decimals in their wire form, the digits of value x 10^18. */
export function deriveGroups(groups: readonly GroupPlan[]): readonly GroupSpec[] {
  return groups.map((group) =>
    create(GroupSpecSchema, {
      name: group.placement.name,
      requirements: {
        signedBy: { allOf: group.placement.allOf.map(addressOf), anyOf: group.placement.anyOf.map(addressOf) },
        attributes: requiredAttributes(group),
      },
      resources: group.units.map((unit) => ({
        resources: resourceUnits(unit),
        count: unit.count,
        price: { denom: unit.price.denom, amount: `${unit.price.amount}` },
      })),
    }),
  );
}

function addressOf({ address }: AuditorDecl): string {
  return address;
}

/** A protected machine is requested as an attribute of the provider. */
function requiredAttributes({ placement, services }: GroupPlan): Attribute[] {
  const tee = services.map(({ service }) => service.params?.tee).find((type) => type !== undefined);
  const attributes = [...placement.attributes];
  if (tee !== undefined) attributes.push({ key: TEE_ATTRIBUTE, value: tee });
  return attributes.sort((a, b) => compare(a.key, b.key));
}

export const TEE_ATTRIBUTE = "tee/type";

function resourceUnits({ id, compute, endpoints }: UnitPlan) {
  return {
    id,
    cpu: { units: amount(compute.cpu), attributes: [...compute.cpuAttributes] },
    memory: { quantity: amount(compute.memory) },
    storage: compute.volumes.map(storage),
    gpu: { units: amount(compute.gpu), attributes: [...compute.gpuAttributes] },
    endpoints: endpoints.map(endpoint),
  };
}

function storage({ name, size, attributes }: ComputeDecl["volumes"][number]) {
  return { name, quantity: amount(size), attributes: [...attributes] };
}

/** Amounts travel as the digits of the integer. */
function amount(value: bigint): { val: Uint8Array<ArrayBuffer> } {
  return { val: new Uint8Array(toUtf8(`${value}`)) };
}

function endpoint({ kind, sequence_number }: ManifestEndpoint) {
  return { kind: KINDS[kind ?? 0], sequenceNumber: sequence_number };
}

const KINDS = [Endpoint_Kind.SHARED_HTTP, Endpoint_Kind.RANDOM_PORT, Endpoint_Kind.LEASED_IP] as const;
