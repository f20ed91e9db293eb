import { fromUtf8, tryParseInt } from "../../util/index.ts";
import {
  type Attribute,
  Endpoint_Kind,
  type ResourceUnits,
  type ResourceValue,
} from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { type GpuWish, parseGpuWish } from "../cluster/index.ts";

/** One volume of a replica. A class is named only if it is persistent or in memory. */
export interface VolumeNeed {
  readonly bytes: bigint;
  readonly class: string;
  readonly persistent: boolean;
}

/** Requirements of one row of an order, per replica: thousandths of a core, bytes, pieces. */
export interface RowNeed {
  readonly id: number;
  readonly count: bigint;
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly gpu: bigint;
  /** Acceptable kinds of GPU; empty if every kind is. */
  readonly gpuKinds: readonly GpuWish[];
  readonly volumes: readonly VolumeNeed[];
  /** All endpoints of the row, and the endpoints that take a port of the host. */
  readonly endpoints: number;
  readonly ports: number;
  readonly leasedIps: readonly number[];
}

/** Reads the rows of a group as numbers. The chain has checked them; a malformed amount throws. */
export function groupNeeds(group: GroupSpec): RowNeed[] {
  return group.resources.map(({ resources, count }) => rowNeed(resources, count));
}

function rowNeed(units: ResourceUnits | undefined, count: number): RowNeed {
  const endpoints = units?.endpoints ?? [];
  const kinds = (kind: Endpoint_Kind) => endpoints.filter((each) => each.kind === kind);
  return {
    id: units?.id ?? 0,
    count: BigInt(count),
    cpu: amount(units?.cpu?.units),
    memory: amount(units?.memory?.quantity),
    gpu: amount(units?.gpu?.units),
    gpuKinds: (units?.gpu?.attributes ?? []).map(({ key }) => parseGpuWish(key)),
    volumes: (units?.storage ?? []).map(({ quantity, attributes }) => volumeNeed(amount(quantity), attributes)),
    endpoints: endpoints.length,
    ports: kinds(Endpoint_Kind.RANDOM_PORT).length,
    leasedIps: kinds(Endpoint_Kind.LEASED_IP).map((each) => each.sequenceNumber),
  };
}

function volumeNeed(bytes: bigint, attributes: readonly Attribute[]): VolumeNeed {
  const text = (key: string) => attributes.find((each) => each.key === key)?.value ?? "";
  return { bytes, class: text("class"), persistent: text("persistent") === "true" };
}

function amount(value: ResourceValue | undefined): bigint {
  // The chain reads an amount without digits as zero.
  if (value === undefined || value.val.length === 0) return 0n;
  const parsed = tryParseInt(fromUtf8(value.val));
  if (parsed === undefined || parsed < 0n) throw new Error("malformed resource amount in an order");
  return parsed;
}
