import { fromUtf8 } from "../../util/index.ts";
import {
  type Endpoint,
  Endpoint_Kind,
  type ResourceUnits,
  type ResourceValue,
} from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec, Resource } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { manifestErrors, show } from "../errors.ts";
import type { Attribute, Manifest, ManifestGroup, ManifestService } from "../manifest.ts";
import { ENDPOINT_KINDS, exposeEndpoints } from "../plan/plan.ts";

/**
 * Checks that a manifest asks for exactly what the deployment's groups on the chain pay for.
 * @throws SvcError `sdl` 21 naming group, service and resource
 */
export function checkManifestAgainstGroups(manifest: Manifest, specs: readonly GroupSpec[]): void {
  if (manifest.length !== specs.length) {
    throw manifestErrors.mismatch(`${manifest.length} groups in the manifest, ${specs.length} on the chain`);
  }
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  for (const group of manifest) {
    const spec = byName.get(group.name);
    if (spec === undefined) throw manifestErrors.mismatch(`the chain has no group ${show(group.name)}`);
    checkManifestAgainstGroup(group, spec);
  }
}

/**
 * The same for one group: resources equal by id, counts used up exactly, endpoints used up exactly.
 * @throws SvcError `sdl` 21
 */
export function checkManifestAgainstGroup(group: ManifestGroup, spec: GroupSpec): void {
  const where = `group ${show(group.name)}`;
  if (group.name !== spec.name) throw manifestErrors.mismatch(`${where} is named ${show(spec.name)} on the chain`);
  const rows = new Map(spec.resources.map((row) => [row.resources?.id ?? 0, row]));
  for (const service of group.services) {
    const row = rows.get(service.resources.id);
    const place = `${where}: service ${show(service.name)}`;
    if (row === undefined)
      throw manifestErrors.mismatch(`${place}: there is no resource with id ${service.resources.id}`);
    checkResources(service, row.resources, place);
  }
  for (const [id, row] of rows) {
    const services = group.services.filter((service) => service.resources.id === id);
    checkUse(services, row, `${where}: resource ${id}`);
  }
}

function checkResources({ resources }: ManifestService, units: ResourceUnits | undefined, where: string): void {
  const pairs: readonly (readonly [string, string, string])[] = [
    [
      "cpu",
      amountText(resources.cpu.units.val, resources.cpu.attributes),
      chainText(units?.cpu?.units, units?.cpu?.attributes),
    ],
    [
      "gpu",
      amountText(resources.gpu.units.val, resources.gpu.attributes),
      chainText(units?.gpu?.units, units?.gpu?.attributes),
    ],
    [
      "memory",
      amountText(resources.memory.size.val, resources.memory.attributes),
      chainText(units?.memory?.quantity, units?.memory?.attributes),
    ],
    ["storage", ...storageTexts(resources.storage, units?.storage ?? [])],
  ];
  for (const [what, manifest, chain] of pairs) {
    if (manifest === chain) continue;
    throw manifestErrors.mismatch(`${where}: ${what} is ${manifest} in the manifest and ${chain} on the chain`);
  }
}

function storageTexts(
  volumes: ManifestService["resources"]["storage"],
  chain: ResourceUnits["storage"],
): readonly [string, string] {
  const ours = volumes.map(({ name, size, attributes }) => `${name} ${amountText(size.val, attributes)}`);
  const theirs = chain.map(({ name, quantity, attributes }) => `${name} ${chainText(quantity, attributes)}`);
  return [ours.sort().join(", "), theirs.sort().join(", ")];
}

function amountText(amount: string, attributes: readonly Attribute[] = []): string {
  const texts = attributes.map(({ key, value }) => `${key}=${value}`).sort();
  return texts.length === 0 ? amount : `${amount} (${texts.join(" ")})`;
}

function chainText(value: ResourceValue | undefined, attributes: readonly Attribute[] | undefined): string {
  return amountText(value === undefined ? "0" : fromUtf8(value.val), attributes);
}

function checkUse(services: readonly ManifestService[], row: Resource, where: string): void {
  const count = services.reduce((sum, service) => sum + service.count, 0);
  balance(`${where}: replicas`, count, row.count);
  const used = services.flatMap((service) => service.expose.flatMap(exposeEndpoints));
  const paid = row.resources?.endpoints ?? [];
  for (const [kind, what] of KINDS) {
    const inManifest = used.filter((endpoint) => (endpoint.kind ?? ENDPOINT_KINDS.sharedHttp) === kind).length;
    balance(`${where}: ${what}`, inManifest, countKind(paid, kind));
  }
  checkNumbers(
    used.flatMap(({ kind, sequence_number: number }) => (kind === ENDPOINT_KINDS.leasedIp ? [number] : [])),
    paid.flatMap(({ kind, sequenceNumber }) => (kind === Endpoint_Kind.LEASED_IP ? [sequenceNumber] : [])),
    where,
  );
}

/** Addresses are paid by their numbers: using more numbers than the chain has would make some of them free. */
function checkNumbers(used: readonly number[], paid: readonly number[], where: string): void {
  const [ours, theirs] = [used, paid].map((numbers) => [...numbers].sort((a, b) => a - b).join(", "));
  if (ours === theirs) return;
  throw manifestErrors.mismatch(
    `${where}: leased addresses are number ${ours} in the manifest, ${theirs} on the chain`,
  );
}

const KINDS = [
  [Endpoint_Kind.SHARED_HTTP, "HTTP endpoints"],
  [Endpoint_Kind.RANDOM_PORT, "port endpoints"],
  [Endpoint_Kind.LEASED_IP, "leased addresses"],
] as const;

function countKind(endpoints: readonly Endpoint[], kind: Endpoint_Kind): number {
  return endpoints.filter((endpoint) => endpoint.kind === kind).length;
}

function balance(what: string, used: number, paid: number): void {
  if (used === paid) return;
  const direction = used > paid ? "over-utilized" : "under-utilized";
  throw manifestErrors.mismatch(`${what} are ${direction}: ${used} in the manifest, ${paid} on the chain`);
}
