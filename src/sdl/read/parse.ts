import { show } from "../errors.ts";
import type { SdlLimits } from "../limits.ts";
import type { DeploymentDecl, SdlFile, SdlVersion } from "../model.ts";
import type { Place, Report } from "../report.ts";
import { compare } from "../text.ts";
import { type Entry, type Node, parseDocumentText } from "../yaml/document.ts";
import { type Fields, Reader, type Want } from "../yaml/fields.ts";
import { TOP_HABITS } from "../yaml/habits.ts";
import { isEndpointName } from "../yaml/names.ts";
import { mapWant } from "../yaml/quantity.ts";
import { parseWindow } from "../yaml/units.ts";
import { readComputeProfile } from "./compute.ts";
import { putSectionsInPlace } from "./misplaced.ts";
import { readPlacement } from "./placement.ts";
import { readService } from "./services.ts";

const FILE_WANT: Want = {
  what: "a deployment file",
  remedy: "write version:, services:, profiles: and deployment: at the left margin",
};
const FILE_SHAPE = {
  keys: ["version", "include", "endpoints", "services", "profiles", "deployment", "reclamation"],
  habits: TOP_HABITS,
};

/**
 * Reads a deployment file of version 2.0 or 2.1. Faults go to the report; undefined means that whole sections could
 * not be read, so that checks between sections would only repeat the same fault.
 */
export function parseSdl(text: string, report: Report, limits: SdlLimits): SdlFile | undefined {
  const root = parseDocumentText(text, report);
  if (root === undefined) return undefined;
  const reader = new Reader(report);
  const file = root.kind === "map" ? putSectionsInPlace(root, report) : root;
  const fields = reader.fields(file, FILE_SHAPE, FILE_WANT);
  return fields === undefined ? undefined : new FileReader(reader, fields, limits).read();
}

class FileReader {
  readonly #reader: Reader;
  readonly #fields: Fields;
  readonly #limits: SdlLimits;

  constructor(reader: Reader, fields: Fields, limits: SdlLimits) {
    this.#reader = reader;
    this.#fields = fields;
    this.#limits = limits;
  }

  read(): SdlFile | undefined {
    const version = readVersion(this.#reader, this.#fields);
    readInclude(this.#reader, this.#fields);
    const services = this.#section(this.#fields, "services", "write services: {web: {image: ...}}");
    const profiles = this.#fields.require("profiles", "write profiles: {compute: ..., placement: ...}");
    const inner = profiles && this.#reader.fields(profiles, { keys: ["compute", "placement"] }, PROFILES_WANT);
    const compute = inner && this.#section(inner, "compute", "write compute: {PROFILE: {resources: ...}}");
    const placement = inner && this.#section(inner, "placement", "write placement: {NAME: {pricing: ...}}");
    const deployment = this.#section(this.#fields, "deployment", "write deployment: {SERVICE: {PLACEMENT: ...}}");
    const sections = {
      services: declare(services, (entry) => readService(this.#reader, entry, version)),
      compute: declare(compute, (entry) => readComputeProfile(this.#reader, entry, this.#limits)),
      placements: declare(placement, (entry) => readPlacement(this.#reader, entry, this.#limits)),
    };
    const rest = {
      endpoints: readEndpoints(this.#reader, this.#fields.get("endpoints")),
      deployments: readDeployments(this.#reader, deployment, this.#limits),
      reclaimMinWindowSeconds: readReclamation(this.#reader, this.#fields.get("reclamation")),
    };
    return deployment && isComplete(sections) ? { version, ...sections, ...rest } : undefined;
  }

  #section(fields: Fields, key: string, remedy: string): ReadonlyMap<string, Entry> | undefined {
    const node = fields.require(key, remedy);
    const entries = this.#reader.named(node, { what: `a map for ${key}`, remedy });
    if (node !== undefined && entries?.size === 0) {
      this.#reader.report.error(node.place, "missing", { problem: `"${key}" is empty`, remedy });
    }
    return entries;
  }
}

const PROFILES_WANT: Want = { what: "a map of profiles", remedy: "write compute: and placement: below profiles" };

interface Sections {
  readonly services: SdlFile["services"];
  readonly compute: SdlFile["compute"];
  readonly placements: SdlFile["placements"];
}

function isComplete(sections: { readonly [K in keyof Sections]: Sections[K] | undefined }): sections is Sections {
  return Object.values(sections).every((section) => section !== undefined);
}

/** Reads every entry; undefined where the section is missing or one of its entries is of the wrong kind. */
function declare<T>(
  entries: ReadonlyMap<string, Entry> | undefined,
  read: (entry: Entry) => T | undefined,
): ReadonlyMap<string, T> | undefined {
  const found = new Map<string, T>();
  for (const entry of entries?.values() ?? []) {
    const value = read(entry);
    if (value !== undefined) found.set(entry.key, value);
  }
  return found.size === entries?.size ? found : undefined;
}

const VERSIONS: ReadonlyMap<string, SdlVersion> = new Map([
  ["2", "2.0"],
  ["2.0", "2.0"],
  ["2.0.0", "2.0"],
  ["2.1", "2.1"],
  ["2.1.0", "2.1"],
]);

function readVersion(reader: Reader, fields: Fields): SdlVersion {
  const remedy = 'write version: "2.0" or version: "2.1"';
  const node = fields.require("version", remedy);
  const version = node?.kind === "scalar" ? VERSIONS.get(node.text) : undefined;
  if (node !== undefined && version === undefined) {
    const what = node.kind === "scalar" ? show(node.text) : `a ${node.kind}`;
    reader.report.error(node.place, "version", { problem: `${what} is not a supported version`, remedy });
  }
  return version ?? "2.0";
}

/** Accepted and ignored, as in the ecosystem's tools. */
function readInclude(reader: Reader, fields: Fields): void {
  const node = fields.get("include");
  if (node === undefined) return;
  reader.texts(node, { what: "a list of files", remedy: "remove include:" });
  const problem = "include: has no effect, other files are not read";
  reader.report.warn(node.place, "unknownKey", { problem, remedy: "remove it" });
}

function readEndpoints(reader: Reader, node: Node | undefined): ReadonlyMap<string, Place> {
  const endpoints = new Map<string, Place>();
  for (const entry of reader.named(node, mapWant("endpoints", "NAME: {kind: ip}"))?.values() ?? []) {
    if (!isEndpointName(entry.key)) {
      const remedy = "write lower-case letters, digits, - and _, beginning with a letter, at least 2";
      const problem = `${show(entry.key)} is not a name for an endpoint`;
      reader.report.error(entry.place, "value", { problem, remedy });
    }
    const fields = reader.fields(entry.value, { keys: ["kind"] }, { what: "an endpoint", remedy: "write {kind: ip}" });
    const kind = fields?.require("kind", "write kind: ip");
    if (kind !== undefined) reader.oneOf(kind, ["ip"], "a kind of endpoint");
    endpoints.set(entry.key, entry.place);
  }
  return endpoints;
}

const DEPLOYMENT_WANT: Want = {
  what: "a map of placements",
  remedy: "write PLACEMENT: {profile: PROFILE, count: 1} below the service",
};
const COUNT_WANT: Want = { what: "a deployment", remedy: "write {profile: PROFILE, count: 1}" };

function readDeployments(
  reader: Reader,
  services: ReadonlyMap<string, Entry> | undefined,
  limits: SdlLimits,
): readonly DeploymentDecl[] {
  const found: DeploymentDecl[] = [];
  for (const service of services?.values() ?? []) {
    const placements = service.value.kind === "map" ? service.value.entries : undefined;
    if (placements === undefined || placements.size === 0) reader.wrong(service.value, DEPLOYMENT_WANT);
    for (const placement of placements?.values() ?? []) {
      const decl = readDeployment(reader, { service, placement }, limits);
      if (decl !== undefined) found.push(decl);
    }
  }
  return found.sort((a, b) => compare(a.service, b.service) || compare(a.placement, b.placement));
}

function readDeployment(
  reader: Reader,
  { service, placement }: { readonly service: Entry; readonly placement: Entry },
  limits: SdlLimits,
): DeploymentDecl | undefined {
  const fields = reader.fields(placement.value, { keys: ["profile", "count"] }, COUNT_WANT);
  const profile = fields?.require("profile", "write profile: and the name of a compute profile");
  const count = fields?.require("count", "write count: 1");
  const max = limits.unitCountMax;
  const countWant = { what: "a number of replicas", remedy: `write a whole number from 1 to ${max}` };
  const replicas = count && reader.integer(count, countWant, { min: 1, max });
  const name = profile && reader.text(profile, { what: "the name of a compute profile", remedy: "write a name" });
  if (fields === undefined || profile === undefined || name === undefined) return undefined;
  return {
    service: service.key,
    placement: placement.key,
    profile: name,
    count: replicas ?? 1,
    place: placement.place,
    servicePlace: service.place,
    profilePlace: profile.place,
  };
}

function readReclamation(reader: Reader, node: Node | undefined): bigint {
  const want = mapWant("reclamation", "min_window: 24h");
  const window = node && reader.fields(node, { keys: ["min_window"] }, want)?.require("min_window", want.remedy);
  return (window && reader.parsed(window, { what: "a time span", remedy: "write 24h" }, parseWindow)) ?? 0n;
}
