import { DEC_ONE, isDenom, tryParseInt } from "../../util/index.ts";
import type { Attribute, ResourceUnits, ResourceValue } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema, type Resource } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { encodeMessage, isAddress } from "../../wire/index.ts";
import type { SdlLimits } from "../limits.ts";
import { type AttributeLimits, attributeFault } from "../read/attributes.ts";

/** Why the chain refuses the groups of a new deployment. */
export interface GroupFault {
  /** Which of the chain's errors it is. */
  readonly kind: "groups" | "spec" | "price" | "name";
  /** The place and the limit. */
  readonly text: string;
  /** Index of the group; absent if it concerns all groups. */
  readonly group?: number;
}

/** Sums over a group's rows; thousandths of a core, bytes, and pieces. */
interface Totals {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpu: bigint;
}

/**
 * The first reason for which the chain refuses these groups, undefined if it accepts them. All prices must be in
 * `denom`. The chain and everybody who writes groups for it use these rules.
 */
export function groupsFault(groups: readonly GroupSpec[], limits: SdlLimits, denom: string): GroupFault | undefined {
  const [fault] = faultsOf(groups, limits, denom);
  return fault;
}

function* faultsOf(groups: readonly GroupSpec[], limits: SdlLimits, denom: string): Generator<GroupFault> {
  if (groups.length === 0) yield { kind: "groups", text: "a deployment needs at least one group" };
  if (groups.length > limits.groupsMax)
    yield { kind: "groups", text: `${groups.length} groups, at most ${limits.groupsMax} are allowed` };
  const names = new Set<string>();
  for (const [i, group] of groups.entries()) {
    for (const fault of groupFaults(group, { limits, denom, at: `groups[${i}]` })) yield { ...fault, group: i };
    if (names.has(group.name)) yield { kind: "name", text: `groups[${i}].name "${group.name}"`, group: i };
    names.add(group.name);
  }
}

type Faults = Generator<Pick<GroupFault, "kind" | "text">>;

interface Bounds {
  readonly limits: SdlLimits;
  readonly denom: string;
  /** Path of the checked value, for error texts. */
  readonly at: string;
}

function* groupFaults(group: GroupSpec, bounds: Bounds): Faults {
  const { limits, at } = bounds;
  const bytes = encodeMessage(GroupSpecSchema, group).length;
  if (bytes > limits.groupBytesMax)
    yield spec(`${at} has ${bytes} bytes in its encoded form, at most ${limits.groupBytesMax} are allowed`);
  if (group.name === "" || group.name.length > limits.groupNameMax)
    yield spec(`${at}.name must have 1 to ${limits.groupNameMax} characters`);
  yield* requirementFaults(group, bounds);
  if (group.resources.length === 0) yield spec(`${at}.resources is empty`);
  if (group.resources.length > limits.groupUnitsMax)
    yield spec(`${at}.resources has ${group.resources.length} rows, at most ${limits.groupUnitsMax} are allowed`);
  for (const [i, row] of group.resources.entries()) yield* rowFaults(row, { ...bounds, at: `${at}.resources[${i}]` });
  const ids = new Set(group.resources.map((row) => row.resources?.id ?? 0));
  if (ids.has(0) || ids.size !== group.resources.length)
    yield spec(`${at}.resources: every row needs its own id above 0`);
  yield* totalFaults(group, bounds);
}

function spec(text: string): Pick<GroupFault, "kind" | "text"> {
  return { kind: "spec", text };
}

function* requirementFaults({ requirements }: GroupSpec, { limits, at }: Bounds): Faults {
  const fault = attributeFault(
    requirements?.attributes ?? [],
    "required",
    listLimits(limits, limits.groupAttributesMax),
  );
  if (fault !== undefined) yield spec(`${at}.requirements.attributes: ${fault}`);
  const auditors = [...(requirements?.signedBy?.allOf ?? []), ...(requirements?.signedBy?.anyOf ?? [])];
  if (auditors.length > limits.groupAuditorsMax)
    yield spec(`${at}.requirements.signed_by names more than ${limits.groupAuditorsMax} auditors`);
  const wrong = auditors.find((auditor) => !isAddress(auditor));
  if (wrong !== undefined)
    yield spec(`${at}.requirements.signed_by: "${wrong.slice(0, 100)}" is not an account address`);
}

function* rowFaults(row: Resource, bounds: Bounds): Faults {
  const { limits, at } = bounds;
  if (row.count < 1 || row.count > limits.unitCountMax)
    yield spec(`${at}.count is ${row.count}, allowed are 1 to ${limits.unitCountMax}`);
  yield* priceFaults(row, bounds);
  const units = row.resources;
  if (units === undefined) yield spec(`${at}.resources is missing`);
  else yield* unitFaults(units, { ...bounds, at: `${at}.resources` });
}

function* priceFaults({ price }: Resource, { limits, denom, at }: Bounds): Faults {
  const amount = tryParseInt(price?.amount ?? "");
  if (price === undefined || amount === undefined || !isDenom(price.denom))
    return yield { kind: "price", text: `${at}.price is not a decimal amount with a denomination` };
  if (price.denom !== denom)
    yield {
      kind: "price",
      text: `${at}.price is in ${price.denom}, the deposit in ${denom}: use one denomination`,
    };
  if (amount <= 0n || amount > limits.unitPriceMax * DEC_ONE)
    yield { kind: "price", text: `${at}.price must be above 0 and at most ${limits.unitPriceMax}${denom} a block` };
}

function* unitFaults(units: ResourceUnits, bounds: Bounds): Faults {
  const { limits, at } = bounds;
  const { cpu, memory, gpu, endpoints } = units;
  yield* amountFaults(cpu?.units, { min: limits.unitCpuMin, max: limits.unitCpuMax, at: `${at}.cpu.units` });
  yield* attributeFaults(cpu?.attributes, { ...bounds, at: `${at}.cpu` });
  const memoryRange = { min: limits.unitMemoryMin, max: limits.unitMemoryMax };
  yield* amountFaults(memory?.quantity, { ...memoryRange, at: `${at}.memory.quantity` });
  yield* attributeFaults(memory?.attributes, { ...bounds, at: `${at}.memory` });
  yield* storageFaults(units, bounds);
  yield* amountFaults(gpu?.units, { min: 0n, max: limits.unitGpuMax, at: `${at}.gpu.units` });
  yield* attributeFaults(gpu?.attributes, { ...bounds, at: `${at}.gpu` });
  if (readAmount(gpu?.units) === 0n && (gpu?.attributes.length ?? 0) > 0)
    yield spec(`${at}.gpu has attributes but no units`);
  if (endpoints.length > limits.unitEndpointsMax)
    yield spec(`${at}.endpoints has ${endpoints.length} entries, at most ${limits.unitEndpointsMax} are allowed`);
  if (endpoints.some(({ kind }) => kind < 0 || kind > 2)) yield spec(`${at}.endpoints: unknown kind`);
}

interface Range {
  readonly min: bigint;
  readonly max: bigint;
  readonly at: string;
}

function* storageFaults({ storage }: ResourceUnits, bounds: Bounds): Faults {
  const { limits, at } = bounds;
  const range = { min: limits.unitStorageMin, max: limits.unitStorageMax };
  if (storage.length === 0) yield spec(`${at}.storage is empty: give at least one volume`);
  if (storage.length > limits.unitVolumesMax)
    yield spec(`${at}.storage has ${storage.length} volumes, at most ${limits.unitVolumesMax} are allowed`);
  for (const [i, volume] of storage.entries()) {
    const place = `${at}.storage[${i}]`;
    yield* amountFaults(volume.quantity, { ...range, at: `${place}.quantity` });
    yield* attributeFaults(volume.attributes, { ...bounds, at: place });
    if (volume.name.length > limits.volumeNameMax)
      yield spec(`${place}.name must have at most ${limits.volumeNameMax} characters`);
  }
  if (new Set(storage.map(({ name }) => name)).size !== storage.length)
    yield spec(`${at}.storage: two volumes have the same name`);
}

/** Limits of a list of attributes of so many entries. */
function listLimits({ attributeKeyMax, attributeValueMax }: SdlLimits, entries: number): AttributeLimits {
  return { entries, keyMax: attributeKeyMax, valueBytes: attributeValueMax };
}

function* attributeFaults(attributes: readonly Attribute[] | undefined, { limits, at }: Bounds): Faults {
  const fault = attributeFault(attributes ?? [], "required", listLimits(limits, limits.unitAttributesMax));
  if (fault !== undefined) yield spec(`${at}.attributes: ${fault}`);
}

function* amountFaults(value: ResourceValue | undefined, { min, max, at }: Range): Faults {
  const amount = readAmount(value);
  if (amount === undefined) yield spec(`${at} is not a decimal integer`);
  else if (amount < min || amount > max) yield spec(`${at} is ${amount}, allowed are ${min} to ${max}`);
}

function* totalFaults(group: GroupSpec, { limits, at }: Bounds): Faults {
  const totals = groupTotals(group);
  const caps: Totals = {
    cpu: limits.groupCpuMax,
    memory: limits.groupMemoryMax,
    storage: limits.groupStorageMax,
    gpu: limits.groupGpuMax,
  };
  for (const kind of ["cpu", "memory", "storage", "gpu"] as const) {
    if (totals[kind] > caps[kind])
      yield spec(`${at} asks for ${totals[kind]} of ${kind}, at most ${caps[kind]} are allowed`);
  }
}

/** Sums over all rows and replicas. */
function groupTotals(group: GroupSpec): Totals {
  const sum = (of: (units: ResourceUnits) => bigint): bigint =>
    group.resources.reduce(
      (total, { resources, count }) => total + (resources === undefined ? 0n : of(resources) * BigInt(count)),
      0n,
    );
  return {
    cpu: sum(({ cpu }) => readAmount(cpu?.units) ?? 0n),
    memory: sum(({ memory }) => readAmount(memory?.quantity) ?? 0n),
    storage: sum(({ storage }) => storage.reduce((total, each) => total + (readAmount(each.quantity) ?? 0n), 0n)),
    gpu: sum(({ gpu }) => readAmount(gpu?.units) ?? 0n),
  };
}

/** The integer in a resource value; absent is 0, anything but canonical digits undefined. */
function readAmount(value: ResourceValue | undefined): bigint | undefined {
  if (value === undefined || value.val.length === 0) return 0n;
  if (value.val.length > 78) return undefined;
  return tryParseInt(Array.from(value.val, (byte) => String.fromCharCode(byte)).join(""));
}
