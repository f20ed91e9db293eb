import { show } from "../errors.ts";
import type { Report } from "../report.ts";
import type { Entry, MapNode, Node } from "../yaml/document.ts";

type Entries = ReadonlyMap<string, Entry>;

/** Sections that wrong indentation can put below others, with the keys that identify their entries. */
const SECTIONS: readonly {
  readonly name: string;
  readonly home: readonly string[];
  readonly is: (e: Entries) => boolean;
}[] = [
  { name: "services", home: [], is: (entries) => someChild(entries, ["image"]) },
  { name: "profiles", home: [], is: (entries) => entries.has("compute") || entries.has("placement") },
  { name: "deployment", home: [], is: (entries) => grandchildren(entries).some((each) => each.has("profile")) },
  { name: "compute", home: ["profiles"], is: (entries) => someChild(entries, ["resources"]) },
  { name: "placement", home: ["profiles"], is: (entries) => someChild(entries, ["pricing"]) },
];

/**
 * Moves sections that are indented below a wrong key to their place, so that one wrong indent is one fault. Returns the
 * file as it is probably meant.
 */
export function putSectionsInPlace(root: MapNode, report: Report): MapNode {
  let file = root;
  for (const { name, home, is } of SECTIONS) {
    if (mapAt(file, [...home, name]) !== undefined) continue;
    for (const holder of holdersOf(file, name)) {
      const entry = mapAt(file, holder)?.entries.get(name);
      if (entry?.value.kind !== "map" || !is(entry.value.entries)) continue;
      const below = holder.length === 0 ? "at the left margin" : `below ${holder.join(".")}`;
      const where = home.length === 0 ? "at the left margin" : `below ${home.join(".")}`;
      report.error(entry.place, "unknownKey", {
        problem: `${show(name)} is ${below}`,
        remedy: home.length === 0 ? `write ${name}: ${where}` : `indent ${name}: ${where}`,
      });
      file = withEntry(withoutEntry(file, holder, name), home, entry);
      break;
    }
  }
  return file;
}

/** Places where a section is looked for: beside the sections, and in each of them. */
function holdersOf(file: MapNode, name: string): readonly (readonly string[])[] {
  const outer = ["services", "profiles", "deployment"].filter((each) => each !== name).map((each) => [each]);
  const inner = ["compute", "placement"].filter((each) => each !== name).map((each) => ["profiles", each]);
  return [[], ...outer, ...inner].filter((path) => mapAt(file, path) !== undefined);
}

function someChild(entries: Entries, keys: readonly string[]): boolean {
  return childMaps(entries).some((each) => keys.some((key) => each.has(key)));
}

function grandchildren(entries: Entries): readonly Entries[] {
  return childMaps(entries).flatMap(childMaps);
}

function childMaps(entries: Entries): readonly Entries[] {
  return [...entries.values()].flatMap(({ value }) => (value.kind === "map" ? [value.entries] : []));
}

function mapAt(node: Node, path: readonly string[]): MapNode | undefined {
  if (node.kind !== "map") return undefined;
  const [first, ...rest] = path;
  if (first === undefined) return node;
  const next = node.entries.get(first)?.value;
  return next === undefined ? undefined : mapAt(next, rest);
}

function withoutEntry(map: MapNode, path: readonly string[], name: string): MapNode {
  return changed(map, path, (entries) => new Map([...entries].filter(([key]) => key !== name)));
}

function withEntry(map: MapNode, path: readonly string[], entry: Entry): MapNode {
  return changed(map, path, (entries) => new Map([...entries, [entry.key, entry]]));
}

/** A copy of the file with the entries of one map changed; a missing map is made. */
function changed(map: MapNode, path: readonly string[], change: (entries: Entries) => Entries): MapNode {
  const [first, ...rest] = path;
  if (first === undefined) return { ...map, entries: change(map.entries) };
  const known = map.entries.get(first);
  const place = { ...map.place, path: first };
  const inner: MapNode = known?.value.kind === "map" ? known.value : { kind: "map", entries: new Map(), place };
  const entry: Entry = { key: first, place: known?.place ?? place, value: changed(inner, rest, change) };
  return { ...map, entries: new Map([...map.entries, [first, entry]]) };
}
