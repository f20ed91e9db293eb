import { formatBytes } from "../sdl/index.ts";
import { equalBytes, formatDecShort, fromUtf8 } from "../util/index.ts";
import type { Attribute, ResourceUnits, ResourceValue } from "../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema, type Resource } from "../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { encodeMessage } from "../wire/index.ts";

/** Names of the services in a resource of a group; empty if unknown. */
export type ServiceNames = (group: string, resource: number) => string;

/**
 * Differences between the groups of a deployment and of a file, one sentence each; empty if they are equal. The chain
 * keeps the groups of a deployment in their order.
 */
export function groupDifferences(
  before: readonly GroupSpec[],
  after: readonly GroupSpec[],
  services: ServiceNames = () => "",
): string[] {
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  return names.flatMap((name) => {
    const old = before.find((group) => group.name === name);
    const now = after.find((group) => group.name === name);
    if (now === undefined) return [`group ${name} is missing from the file`];
    if (old === undefined) return [`group ${name} is new in the file`];
    return differences(old, now, (resource) => services(name, resource)).map((text) => `group ${name}: ${text}`);
  });
}

function differences(old: GroupSpec, now: GroupSpec, services: (resource: number) => string): string[] {
  if (equalBytes(encodeMessage(GroupSpecSchema, old), encodeMessage(GroupSpecSchema, now))) return [];
  const [fields, other] = [groupFields(old, services), groupFields(now, services)];
  const keys = [...new Set([...fields.keys(), ...other.keys()])];
  const changed = keys.flatMap((key) => change(key, fields.get(key), other.get(key)));
  return changed.length === 0 ? ["its resources are described differently"] : changed;
}

function change(key: string, old: string | undefined, now: string | undefined): string[] {
  if (old === now) return [];
  if (old === undefined) return [`${key} ${now} was added`];
  return now === undefined ? [`${key} ${old} was removed`] : [`${key} was ${old} and is ${now}`];
}

/** Everything that a group states, as named texts. */
function groupFields(
  { requirements, resources }: GroupSpec,
  services: (resource: number) => string,
): Map<string, string> {
  const { allOf = [], anyOf = [] } = requirements?.signedBy ?? {};
  const fields = new Map<string, string>();
  for (const { key, value } of requirements?.attributes ?? []) fields.set(`attribute ${key}`, value);
  if (allOf.length > 0) fields.set("signedBy allOf", allOf.join(" "));
  if (anyOf.length > 0) fields.set("signedBy anyOf", anyOf.join(" "));
  for (const row of resources) addRow(fields, row, rowName(row, services));
  return fields;
}

/** The services in a row, otherwise its number. */
function rowName({ resources }: Resource, services: (resource: number) => string): string {
  const id = resources?.id ?? 0;
  const names = services(id);
  return names === "" ? `resource ${id}` : names;
}

function addRow(fields: Map<string, string>, { resources, count, price }: Resource, name: string): void {
  fields.set(`${name} count`, `${count}`);
  fields.set(`${name} price`, `${formatDecShort(BigInt(price?.amount ?? "0"))} ${price?.denom ?? ""}`);
  if (resources !== undefined) addUnits(fields, name, resources);
}

function addUnits(fields: Map<string, string>, name: string, units: ResourceUnits): void {
  fields.set(`${name} cpu`, `${amount(units.cpu?.units)}m${attributes(units.cpu?.attributes)}`);
  fields.set(`${name} memory`, bytes(units.memory?.quantity) + attributes(units.memory?.attributes));
  fields.set(`${name} gpu`, `${amount(units.gpu?.units)}${attributes(units.gpu?.attributes)}`);
  for (const volume of units.storage) {
    fields.set(`${name} storage ${volume.name}`, bytes(volume.quantity) + attributes(volume.attributes));
  }
  const kinds = units.endpoints.map(({ kind }) => kind);
  for (const [kind, text] of ENDPOINTS.entries()) {
    const count = kinds.filter((each) => each === kind).length;
    if (count > 0) fields.set(`${name} ${text}`, `${count}`);
  }
}

const ENDPOINTS = ["http endpoints", "port endpoints", "leased ips"] as const;

function amount(value: ResourceValue | undefined): string {
  return value === undefined || value.val.length === 0 ? "0" : fromUtf8(value.val);
}

function bytes(value: ResourceValue | undefined): string {
  return formatBytes(BigInt(amount(value)));
}

function attributes(list: readonly Attribute[] = []): string {
  return list.length === 0 ? "" : ` (${list.map(({ key, value }) => `${key}=${value}`).join(" ")})`;
}
