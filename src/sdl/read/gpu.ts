import { show } from "../errors.ts";
import type { SdlLimits } from "../limits.ts";
import type { Attribute } from "../manifest.ts";
import type { ComputeDecl } from "../model.ts";
import type { Node } from "../yaml/document.ts";
import type { Fields, Reader, Want } from "../yaml/fields.ts";
import type { Habits } from "../yaml/habits.ts";
import { mapWant } from "../yaml/quantity.ts";
import { parseGpuRam } from "../yaml/units.ts";
import { checkAttributeCount, isAttributeKey } from "./attributes.ts";

const RAM_WANT: Want = { what: "the memory of a GPU", remedy: "write for example ram: 80Gi" };
const MODEL_REMEDY = "write the short name in one word, for example a100";
const VENDOR_HABITS: Habits = new Map(
  ["amd", "intel"].map((vendor) => [
    vendor,
    { harmless: false, remedy: "only GPUs of nvidia can be requested: write nvidia:", replaces: "nvidia" },
  ]),
);

/** `resources.gpu`. */
export function readGpu(
  reader: Reader,
  node: Node | undefined,
  limits: SdlLimits,
): Pick<ComputeDecl, "gpu" | "gpuAttributes" | "interconnect"> {
  const fields = node && reader.fields(node, { keys: ["units", "attributes"] }, mapWant("gpu", "units: 1"));
  if (fields === undefined) return { gpu: 0n, gpuAttributes: [] };
  const attributes = fields.get("attributes");
  const units = readUnits(reader, fields.get("units"), limits);
  if (units !== undefined) checkUnits(reader, fields, units);
  return { gpu: BigInt(units ?? 0), ...readAttributes(reader, attributes, limits) };
}

type GpuAttributes = Pick<ComputeDecl, "gpuAttributes" | "interconnect">;

function readAttributes(reader: Reader, node: Node | undefined, limits: SdlLimits): GpuAttributes {
  const want = mapWant("attributes", "vendor: {nvidia: }");
  const fields = node && reader.fields(node, { keys: ["vendor", "interconnect"] }, want);
  if (node === undefined || fields === undefined) return { gpuAttributes: [] };
  const vendor = fields.require("vendor", want.remedy);
  const interconnect = readInterconnect(reader, fields.get("interconnect"));
  const models = vendor === undefined ? [] : readModels(reader, vendor);
  const group = interconnect === undefined ? [] : [{ key: INTERCONNECT_KEY, value: interconnect }];
  const count = models.length + group.length;
  checkAttributeCount(reader.report, node.place, { count, max: limits.unitAttributesMax });
  return { gpuAttributes: [...group, ...models], ...(interconnect === undefined ? {} : { interconnect }) };
}

/** The GPU attribute that names the group; it sorts before the attributes of models. */
const INTERCONNECT_KEY = "interconnect/group";
/** The group of all replicas that name none. */
export const DEFAULT_INTERCONNECT = "auto";

/** `[]` for one group of all replicas, or the name of a group. */
function readInterconnect(reader: Reader, node: Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.kind === "list" && node.items.length === 0) return DEFAULT_INTERCONNECT;
  const want = { what: "an interconnect", remedy: "write interconnect: [], or interconnect: {group: NAME}" };
  const group = reader.fields(node, { keys: ["group"] }, want)?.require("group", want.remedy);
  const named = {
    what: "the name of an interconnect group",
    remedy: "write lower-case letters, digits and dashes, at most 63",
  };
  return (
    group &&
    reader.parsed(group, named, (text) => {
      if (text === DEFAULT_INTERCONNECT)
        return { problem: `${show(text)} is not a name of your own`, remedy: "write interconnect: []" };
      if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return { value: text };
      return { problem: `${show(text)} is not ${named.what}`, remedy: named.remedy };
    })
  );
}

/** May be written in quotes, as all other amounts of resources. */
function readUnits(reader: Reader, node: Node | undefined, limits: SdlLimits): number | undefined {
  if (node === undefined) return 0;
  const max = Number(limits.unitGpuMax);
  const want = { what: "a number of GPUs", remedy: `write a whole number from 0 to ${max}` };
  return reader.integer(node.kind === "scalar" ? { ...node, plain: true } : node, want, { min: 0, max });
}

function checkUnits(reader: Reader, fields: Fields, units: number): void {
  const attributes = fields.get("attributes");
  if (units > 0 && attributes === undefined) {
    const remedy = "write attributes: {vendor: {nvidia: }} for any model";
    reader.report.error(fields.place, "missing", { problem: "the attributes of the GPU are missing", remedy });
  }
  if (units === 0 && attributes !== undefined) {
    const remedy = "write units: 1, or remove the attributes";
    reader.report.error(attributes.place, "value", { problem: "attributes are given for 0 GPUs", remedy });
  }
}

function readModels(reader: Reader, vendor: Node): readonly Attribute[] {
  const shape = { keys: ["nvidia"], habits: VENDOR_HABITS };
  const fields = reader.fields(vendor, shape, mapWant("vendor", "nvidia:"));
  if (fields === undefined) return [];
  const entry = fields.entry("nvidia");
  if (entry === undefined) fields.require("nvidia", "write nvidia: for any model, or a list of models below it");
  const models = reader.items(entry?.value, { what: "a list of models", remedy: "write - model: a100" });
  const keys = new Set(models.flatMap((model) => readModel(reader, model) ?? []));
  if (keys.size === 0) keys.add(modelKey("*"));
  return [...keys].sort().map((key) => ({ key, value: "true" }));
}

function modelKey(model: string): string {
  return `vendor/nvidia/model/${model}`;
}

function readModel(reader: Reader, node: Node): string | undefined {
  const want = { what: "a model", remedy: "write - model: a100" };
  const fields = reader.fields(node, { keys: ["model", "ram", "interface"] }, want);
  const model = fields?.require("model", "write the model, for example model: a100");
  if (fields === undefined || model === undefined) return undefined;
  const ram = fields.get("ram");
  const size = ram && reader.parsed(ram, RAM_WANT, parseGpuRam);
  const bus = fields.get("interface");
  const link = bus && reader.oneOf(bus, ["pcie", "sxm"], "an interface of a GPU");
  const rest = [size && `/ram/${size}`, link && `/interface/${link}`].filter((part) => part !== undefined).join("");
  return reader.parsed(model, { what: "a model", remedy: MODEL_REMEDY }, (name) => {
    const key = modelKey(name + rest);
    const known = !name.includes("/") && isAttributeKey(key, "required");
    return known ? { value: key } : { problem: `${show(name)} is not a model here`, remedy: MODEL_REMEDY };
  });
}
