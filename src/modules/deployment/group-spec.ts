import { attributeFault } from "../../sdl/index.ts";
import { DEC_ONE, isDenom, tryParseInt } from "../../util/index.ts";
import type { Attribute, ResourceUnits, ResourceValue } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec, Limits, Resource } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { isAddress } from "../../wire/index.ts";
import { errors } from "./errors.ts";

const MAX_NAME_LENGTH = 64;
const MAX_AUDITORS = 64;

/** What a group's rows add up to; thousandths of a core, bytes, and pieces. */
interface Totals {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpu: bigint;
}

/**
 * Checks the groups of a new deployment against the limits; all prices must be in `denom`. Throws `deployment/7`, `19`,
 * `24` or `25` with the place and the limit.
 */
export function checkGroups(groups: readonly GroupSpec[], limits: Limits, denom: string): void {
  if (groups.length === 0) throw errors.invalidGroups("a deployment needs at least one group");
  if (groups.length > limits.groupsMax)
    throw errors.invalidGroups(`${groups.length} groups, at most ${limits.groupsMax} are allowed`);
  const names = new Set<string>();
  groups.forEach((group, i) => {
    checkGroup(group, { limits, denom, at: `groups[${i}]` });
    if (names.has(group.name)) throw errors.duplicateGroupName(`groups[${i}].name "${group.name}"`);
    names.add(group.name);
  });
}

interface Bounds {
  readonly limits: Limits;
  readonly denom: string;
  /** Path of what is checked, for error texts. */
  readonly at: string;
}

function checkGroup(group: GroupSpec, bounds: Bounds): void {
  const { limits, at } = bounds;
  if (group.name === "" || group.name.length > MAX_NAME_LENGTH)
    throw errors.invalidGroupSpec(`${at}.name must have 1 to ${MAX_NAME_LENGTH} characters`);
  checkRequirements(group, at);
  if (group.resources.length === 0) throw errors.invalidGroupSpec(`${at}.resources is empty`);
  if (group.resources.length > limits.groupUnitsMax)
    throw errors.invalidGroupSpec(
      `${at}.resources has ${group.resources.length} rows, at most ${limits.groupUnitsMax} are allowed`,
    );
  group.resources.forEach((row, i) => {
    checkRow(row, { ...bounds, at: `${at}.resources[${i}]` });
  });
  const ids = new Set(group.resources.map((row) => row.resources?.id ?? 0));
  if (ids.has(0) || ids.size !== group.resources.length)
    throw errors.invalidGroupSpec(`${at}.resources: every row needs an id above 0 of its own`);
  checkTotals(group, bounds);
}

function checkRequirements({ requirements }: GroupSpec, at: string): void {
  const fault = attributeFault(requirements?.attributes ?? [], "required");
  if (fault !== undefined) throw errors.invalidGroupSpec(`${at}.requirements.attributes: ${fault}`);
  const auditors = [...(requirements?.signedBy?.allOf ?? []), ...(requirements?.signedBy?.anyOf ?? [])];
  if (auditors.length > MAX_AUDITORS)
    throw errors.invalidGroupSpec(`${at}.requirements.signed_by names more than ${MAX_AUDITORS} auditors`);
  const wrong = auditors.find((auditor) => !isAddress(auditor));
  if (wrong !== undefined)
    throw errors.invalidGroupSpec(`${at}.requirements.signed_by: "${wrong.slice(0, 100)}" is no account address`);
}

function checkRow(row: Resource, bounds: Bounds): void {
  const { limits, at } = bounds;
  if (row.count < 1 || row.count > limits.unitCountMax)
    throw errors.invalidGroupSpec(`${at}.count is ${row.count}, allowed are 1 to ${limits.unitCountMax}`);
  checkPrice(row, bounds);
  const units = row.resources;
  if (units === undefined) throw errors.invalidGroupSpec(`${at}.resources is missing`);
  checkUnits(units, { ...bounds, at: `${at}.resources` });
}

function checkPrice({ price }: Resource, { limits, denom, at }: Bounds): void {
  const amount = tryParseInt(price?.amount ?? "");
  if (price === undefined || amount === undefined || !isDenom(price.denom))
    throw errors.invalidPrice(`${at}.price is no decimal amount with a denomination`);
  if (price.denom !== denom)
    throw errors.invalidPrice(`${at}.price is in ${price.denom}, the deposit in ${denom}: use one denomination`);
  if (amount <= 0n || amount > limits.unitPriceMax * DEC_ONE)
    throw errors.invalidPrice(`${at}.price must be above 0 and at most ${limits.unitPriceMax}${denom} a block`);
}

function checkUnits(units: ResourceUnits, { limits, at }: Bounds): void {
  const { cpu, memory, storage, gpu, endpoints } = units;
  checkAmount(cpu?.units, { min: limits.unitCpuMin, max: limits.unitCpuMax, at: `${at}.cpu.units` });
  checkAttributes(cpu?.attributes, `${at}.cpu`);
  checkAmount(memory?.quantity, { min: limits.unitMemoryMin, max: limits.unitMemoryMax, at: `${at}.memory.quantity` });
  checkAttributes(memory?.attributes, `${at}.memory`);
  if (storage.length === 0) throw errors.invalidGroupSpec(`${at}.storage is empty: give at least one volume`);
  storage.forEach((volume, i) => {
    const place = `${at}.storage[${i}]`;
    const range = { min: limits.unitStorageMin, max: limits.unitStorageMax, at: `${place}.quantity` };
    checkAmount(volume.quantity, range);
    checkAttributes(volume.attributes, place);
  });
  if (new Set(storage.map(({ name }) => name)).size !== storage.length)
    throw errors.invalidGroupSpec(`${at}.storage: two volumes have the same name`);
  const gpus = checkAmount(gpu?.units, { min: 0n, max: limits.unitGpuMax, at: `${at}.gpu.units` });
  checkAttributes(gpu?.attributes, `${at}.gpu`);
  if (gpus === 0n && (gpu?.attributes.length ?? 0) > 0)
    throw errors.invalidGroupSpec(`${at}.gpu has attributes but no units`);
  if (endpoints.some(({ kind }) => kind < 0 || kind > 2))
    throw errors.invalidGroupSpec(`${at}.endpoints: unknown kind`);
}

function checkAttributes(attributes: readonly Attribute[] | undefined, at: string): void {
  const fault = attributeFault(attributes ?? [], "required");
  if (fault !== undefined) throw errors.invalidGroupSpec(`${at}.attributes: ${fault}`);
}

function checkAmount(
  value: ResourceValue | undefined,
  { min, max, at }: { readonly min: bigint; readonly max: bigint; readonly at: string },
): bigint {
  const amount = readAmount(value);
  if (amount === undefined) throw errors.invalidGroupSpec(`${at} is no decimal integer`);
  if (amount < min || amount > max) throw errors.invalidGroupSpec(`${at} is ${amount}, allowed are ${min} to ${max}`);
  return amount;
}

function checkTotals(group: GroupSpec, { limits, at }: Bounds): void {
  const totals = groupTotals(group);
  const caps: Totals = {
    cpu: limits.groupCpuMax,
    memory: limits.groupMemoryMax,
    storage: limits.groupStorageMax,
    gpu: limits.groupGpuMax,
  };
  for (const kind of ["cpu", "memory", "storage", "gpu"] as const) {
    if (totals[kind] > caps[kind])
      throw errors.invalidGroupSpec(`${at} asks for ${totals[kind]} of ${kind}, at most ${caps[kind]} are allowed`);
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
export function readAmount(value: ResourceValue | undefined): bigint | undefined {
  if (value === undefined || value.val.length === 0) return 0n;
  if (value.val.length > 78) return undefined;
  return tryParseInt(Buffer.from(value.val).toString("latin1"));
}
