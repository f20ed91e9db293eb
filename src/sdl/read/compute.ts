import type { SdlLimits } from "../limits.ts";
import type { Attribute } from "../manifest.ts";
import type { ComputeDecl } from "../model.ts";
import type { Entry, Node } from "../yaml/document.ts";
import type { Reader, Want } from "../yaml/fields.ts";
import { mapWant, readQuantity, readSize } from "../yaml/quantity.ts";
import { parseCpu } from "../yaml/units.ts";
import { readGpu } from "./gpu.ts";
import { readVolumes } from "./storage.ts";

const PROFILE_WANT: Want = {
  what: "a compute profile",
  remedy: "write resources: {cpu, memory, storage} below the name",
};
const RESOURCES_WANT: Want = { what: "a map of resources", remedy: "write cpu:, memory: and storage: below resources" };
const CPU_WANT: Want = {
  what: "a number of cores",
  remedy: 'write cores such as 0.5 or 2, or thousandths such as "500m"',
};

/** `profiles.compute.<name>`: the resources of one replica. */
export function readComputeProfile(reader: Reader, entry: Entry, limits: SdlLimits): ComputeDecl | undefined {
  const outer = reader.fields(entry.value, { keys: ["resources"] }, PROFILE_WANT);
  const node = outer?.require("resources", PROFILE_WANT.remedy);
  const fields = node && reader.fields(node, { keys: ["cpu", "memory", "storage", "gpu"] }, RESOURCES_WANT);
  if (fields === undefined) return undefined;
  return {
    name: entry.key,
    place: entry.place,
    ...readCpu(reader, fields.require("cpu", "write cpu: {units: 0.5}"), limits),
    memory: readMemory(reader, fields.require("memory", "write memory: {size: 512Mi}"), limits),
    volumes: readVolumes(reader, fields.require("storage", "write storage: {size: 1Gi}"), limits),
    ...readGpu(reader, fields.get("gpu"), limits),
  };
}

function readCpu(
  reader: Reader,
  node: Node | undefined,
  limits: SdlLimits,
): Pick<ComputeDecl, "cpu" | "cpuAttributes"> {
  const fields = node && reader.fields(node, { keys: ["units", "attributes"] }, mapWant("cpu", "units: 0.5"));
  const units = fields?.require("units", "write units: 0.5");
  const bounds = { min: limits.unitCpuMin, max: limits.unitCpuMax };
  return {
    cpu: readQuantity(reader, units, { ...CPU_WANT, ...bounds, parse: parseCpu, format: cores }),
    cpuAttributes: readCpuAttributes(reader, fields?.get("attributes")),
  };
}

function cores(milli: bigint): string {
  return `${Number(milli) / 1000}`;
}

function readCpuAttributes(reader: Reader, node: Node | undefined): readonly Attribute[] {
  const arch = node && reader.fields(node, { keys: ["arch"] }, mapWant("attributes", "arch: amd64"))?.get("arch");
  const value = arch && reader.oneOf(arch, ["amd64", "arm64"], "a processor architecture");
  return value === undefined ? [] : [{ key: "arch", value }];
}

function readMemory(reader: Reader, node: Node | undefined, limits: SdlLimits): bigint {
  const fields = node && reader.fields(node, { keys: ["size", "attributes"] }, mapWant("memory", "size: 512Mi"));
  const attributes = fields?.get("attributes");
  // Memory has no attributes, but existing files carry the key with nothing in it.
  if (attributes !== undefined) reader.fields(attributes, { keys: [] }, { what: "an empty map", remedy: "remove it" });
  return readSize(reader, fields, { min: limits.unitMemoryMin, max: limits.unitMemoryMax });
}
