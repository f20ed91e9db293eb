import { show } from "../errors.ts";
import type { SdlLimits } from "../limits.ts";
import type { VolumeDecl } from "../model.ts";
import type { Node } from "../yaml/document.ts";
import type { Fields, Reader, Want } from "../yaml/fields.ts";
import { isVolumeName } from "../yaml/names.ts";
import { mapWant, readSize } from "../yaml/quantity.ts";

const STORAGE_WANT: Want = { what: "a volume or a list of volumes", remedy: "write storage: {size: 1Gi}" };
const STORAGE_CLASSES = ["default", "beta1", "beta2", "beta3", "ram"] as const;
const DEFAULT_VOLUME = "default";

/** `resources.storage`: one volume or a list of them. */
export function readVolumes(reader: Reader, node: Node | undefined, limits: SdlLimits): readonly VolumeDecl[] {
  if (node === undefined) return [];
  const single = node.kind === "map";
  const items = single ? [node] : reader.items(node, STORAGE_WANT);
  if (node.kind === "list" && items.length === 0) {
    reader.report.error(node.place, "missing", {
      problem: "the list of volumes is empty",
      remedy: STORAGE_WANT.remedy,
    });
  }
  const volumes = items.flatMap((item) => readVolume(reader, { node: item, single, limits }) ?? []);
  refuseDuplicates(reader, volumes);
  return volumes;
}

function refuseDuplicates(reader: Reader, volumes: readonly VolumeDecl[]): void {
  const seen = new Set<string>();
  for (const { name, place } of volumes) {
    if (seen.has(name)) {
      const problem = `there are two volumes named ${show(name)}`;
      reader.report.error(place, "conflict", { problem, remedy: "give each volume its own name:" });
    }
    seen.add(name);
  }
}

interface VolumeSource {
  readonly node: Node;
  readonly single: boolean;
  readonly limits: SdlLimits;
}

function readVolume(reader: Reader, { node, single, limits }: VolumeSource): VolumeDecl | undefined {
  const fields = reader.fields(node, { keys: ["name", "size", "attributes"] }, mapWant("storage", "size: 1Gi"));
  if (fields === undefined) return undefined;
  return {
    name: readName(reader, fields, single),
    place: fields.place,
    size: readSize(reader, fields, { min: limits.unitStorageMin, max: limits.unitStorageMax }),
    ...readAttributes(reader, fields.get("attributes")),
  };
}

function readName(reader: Reader, fields: Fields, single: boolean): string {
  const node = fields.get("name");
  if (node === undefined) return DEFAULT_VOLUME;
  const remedy = "write letters, digits, dashes, dots and underscores, for example data";
  const name = reader.parsed(node, { what: "a name for a volume", remedy }, (text) =>
    isVolumeName(text) ? { value: text } : { problem: `${show(text)} is not a name for a volume`, remedy },
  );
  // A refused name still distinguishes volumes.
  if (name === undefined) return node.kind === "scalar" ? node.text : DEFAULT_VOLUME;
  if (!single || name === DEFAULT_VOLUME) return name;
  reader.report.warn(node.place, "value", {
    problem: `a single storage is named "default", not ${show(name)}`,
    remedy: "write a list: storage: [{name: ..., size: ...}]",
  });
  return DEFAULT_VOLUME;
}

type StorageAttributes = Pick<VolumeDecl, "attributes" | "persistent" | "ram">;

function readAttributes(reader: Reader, node: Node | undefined): StorageAttributes {
  const want = mapWant("attributes", "persistent: true");
  const fields = node && reader.fields(node, { keys: ["class", "persistent"] }, want);
  const classNode = fields?.get("class");
  const switchNode = fields?.get("persistent");
  if (classNode === undefined && switchNode === undefined) return { attributes: [], persistent: false, ram: false };
  const switched = switchNode === undefined ? false : readPersistent(reader, switchNode);
  const named = classNode && reader.oneOf(classNode, STORAGE_CLASSES, "a storage class");
  if (classNode !== undefined && named !== undefined && switched !== undefined) {
    checkClass(reader, classNode, { named, persistent: switched });
  }
  const persistent = switched === true;
  const storageClass = named ?? (persistent ? "default" : undefined);
  const attributes = [{ key: "persistent", value: String(persistent) }];
  if (storageClass !== undefined) attributes.unshift({ key: "class", value: storageClass });
  return { attributes, persistent, ram: storageClass === "ram" };
}

/** The one switch that may also be written in quotes, because it becomes the text of an attribute. */
function readPersistent(reader: Reader, node: Node): boolean | undefined {
  return reader.flag(node.kind === "scalar" ? { ...node, plain: true } : node);
}

function checkClass(
  reader: Reader,
  node: Node,
  { named, persistent }: { readonly named: string; readonly persistent: boolean },
): void {
  if (named === "ram" && persistent) {
    const problem = 'storage of class "ram" is lost at every restart, but persistent is true';
    reader.report.error(node.place, "value", { problem, remedy: "write persistent: false" });
  }
  if (named !== "ram" && !persistent) {
    const remedy = "write persistent: true next to it, or remove class:";
    reader.report.error(node.place, "value", { problem: `class ${show(named)} is for persistent storage`, remedy });
  }
}
