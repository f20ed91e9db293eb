import { manifestErrors, show } from "../errors.ts";
import type { Manifest, ManifestExpose, ManifestGroup, ManifestService } from "../manifest.ts";
import { compareExposes } from "../plan/plan.ts";
import { compare } from "../text.ts";
import type { Parsed } from "../yaml/fields.ts";
import {
  checkHost,
  checkImage,
  checkMount,
  checkVariable,
  isEndpointName,
  isGroupName,
  isServiceName,
  isVolumeName,
} from "../yaml/names.ts";

/**
 * Checks the rules that the shape of a manifest does not show: names, order, references and that something is public.
 * @throws SvcError `sdl` 20 with the path of the first fault
 */
export function validateManifest(manifest: Manifest): void {
  if (manifest.length === 0) throw manifestErrors.invalid("it has no groups");
  const hosts = new Map<string, string>();
  const names = new Set<string>();
  for (const group of manifest) {
    validateGroup(group, hosts);
    if (names.has(group.name)) throw manifestErrors.invalid(`group ${show(group.name)} appears twice`);
    names.add(group.name);
  }
  const exposes = manifest.flatMap((group) => group.services.flatMap((service) => service.expose));
  validateAddresses(manifest);
  if (!exposes.some((expose) => expose.global)) throw manifestErrors.invalid("no service can be reached from outside");
}

function validateGroup(group: ManifestGroup, hosts: Map<string, string>): void {
  require(isGroupName(group.name), `${show(group.name)} is not a name for a group`);
  require(group.services.length > 0, `group ${show(group.name)} has no services`);
  const sorted = group.services.every(
    (service, i) => i === 0 || compare(group.services[i - 1]?.name ?? "", service.name) < 0,
  );
  require(sorted, `services of group ${show(group.name)} are not sorted by name`);
  for (const service of group.services) {
    const where = `service ${show(service.name)} of group ${show(group.name)}`;
    validateService(service, where);
    for (const expose of service.expose) claimHosts(expose, where, hosts);
  }
}

function require(condition: boolean, detail: string): void {
  if (!condition) throw manifestErrors.invalid(detail);
}

function accept(result: Parsed<unknown>, where: string): void {
  if ("problem" in result) throw manifestErrors.invalid(`${where}: ${result.problem}`);
}

function validateService(service: ManifestService, where: string): void {
  require(isServiceName(service.name), `${where}: the name is not valid`);
  accept(checkImage(service.image), where);
  for (const variable of service.env ?? []) accept(checkVariable(variable), where);
  const words = [...(service.command ?? []), ...(service.args ?? [])];
  require(!words.some((word) => word.includes("\0")), `${where}: a word of the command holds a NUL byte`);
  const sorted = service.expose.every((expose, i) => {
    const before = service.expose[i - 1];
    return before === undefined || compareExposes(before, expose) <= 0;
  });
  require(sorted, `${where}: exposed ports are not sorted`);
  for (const expose of service.expose) validateExpose(expose, where);
  validateVolumes(service, where);
}

function validateExpose(expose: ManifestExpose, where: string): void {
  const port = `${where}: port ${expose.port}`;
  for (const host of expose.hosts ?? []) accept(checkHost(host), port);
  require(expose.service === "" || isServiceName(expose.service), `${port}: ${show(expose.service)} is not a service`);
  require(expose.ip === "" || expose.global, `${port} has a leased address but is not global`);
}

/** A leased address has one number, which no other has: it is paid by its number. Each of its ports leads to one service. */
function validateAddresses(manifest: Manifest): void {
  const names = new Map<number, string>();
  const numbers = new Map<string, number>();
  for (const group of manifest) {
    const ports = new Set<string>();
    for (const service of group.services) {
      const where = `service ${show(service.name)} of group ${show(group.name)}`;
      for (const expose of service.expose) claimAddress(expose, where, { names, numbers, ports });
    }
  }
}

interface Claimed {
  readonly names: Map<number, string>;
  readonly numbers: Map<string, number>;
  readonly ports: Set<string>;
}

function claimAddress(expose: ManifestExpose, where: string, { names, numbers, ports }: Claimed): void {
  const { ip, port, externalPort, proto, endpointSequenceNumber: number } = expose;
  if (ip === "") return;
  require(isEndpointName(ip), `${where}: ${show(ip)} is not a name for a leased address`);
  const isOne = (numbers.get(ip) ?? number) === number && (names.get(number) ?? ip) === ip;
  require(number > 0 && isOne, `${where}: leased addresses and their numbers do not match`);
  names.set(number, ip);
  numbers.set(ip, number);
  const key = `${ip}:${externalPort || port}/${proto}`;
  require(!ports.has(key), `${where}: ${key} is already in use`);
  ports.add(key);
}

function validateVolumes({ resources, params }: ManifestService, where: string): void {
  const volumes = new Map(resources.storage.map((volume) => [volume.name, volume]));
  require(volumes.size === resources.storage.length, `${where}: two volumes have one name`);
  const places = new Set<string>();
  const mounted = new Set<string>();
  for (const { name, mount } of params?.storage ?? []) {
    accept(checkMount(mount), where);
    require(volumes.has(name), `${where}: there is no volume ${show(name)} to mount`);
    const path = mount.replace(/\/$/, "");
    require(!places.has(path) && !mounted.has(name), `${where}: ${show(mount)} or its volume is mounted twice`);
    places.add(path);
    mounted.add(name);
  }
  for (const { name, attributes } of volumes.values()) {
    require(isVolumeName(name), `${where}: ${show(name)} is not a name for a volume`);
    const persistent = attributes?.some(({ key, value }) => key === "persistent" && value === "true") === true;
    require(!persistent || mounted.has(name), `${where}: volume ${show(name)} is persistent but not mounted`);
  }
}

/** A host name leads to one place. */
function claimHosts(expose: ManifestExpose, where: string, hosts: Map<string, string>): void {
  const owner = `${where}, port ${expose.port}`;
  for (const host of expose.hosts ?? []) {
    const other = hosts.get(host);
    require(other === undefined || other === owner, `${owner}: host name ${show(host)} already belongs to ${other}`);
    hosts.set(host, owner);
  }
}
