import { type Document, isMap, isScalar, isSeq, Scalar, visit, type YAMLSeq } from "yaml";
import { documentText, editableDocument } from "../../../sdl/index.ts";
import { NATIVE_DENOM } from "../../../util/index.ts";
import { BEYOND, nodeAt, type Path, scalarText, setScalar } from "./paths.ts";

/** A change of a document in its place. */
export type Edit = (document: Document) => void;

/**
 * The text after a change; everything that the change does not name stays, comments among it. Undefined if it would take away
 * a value that an alias repeats elsewhere.
 */
export function edited(text: string, edit: Edit): string | undefined {
  const document = editableDocument(text);
  if (document === undefined) return text;
  edit(document);
  return hasLostAlias(document) ? undefined : documentText(document, text);
}

function hasLostAlias(document: Document): boolean {
  let isLost = false;
  visit(document, {
    Alias: (_, alias) => {
      isLost ||= alias.resolve(document) === undefined;
    },
  });
  return isLost;
}

/** Removes a value, if there is one. */
function drop(document: Document, path: Path): void {
  const node = nodeAt(document, path);
  if (node !== undefined && node !== BEYOND) document.deleteIn(path);
}

/** Writes a value. An optional one that is empty goes. */
export function setText(path: Path, text: string, isOptional = false): Edit {
  return (document) => {
    const node = nodeAt(document, path);
    if (isOptional && text === "") drop(document, path);
    else if (isScalar(node)) setScalar(node, text);
    else document.setIn(path, scalar(text));
  };
}

function scalar(text: string): Scalar {
  const node = new Scalar<unknown>("");
  setScalar(node, text);
  if (text === "") node.type = "QUOTE_DOUBLE";
  return node;
}

/** Writes a list of values. Values before and behind a change keep their comments; an empty list goes. */
export function setLines(path: Path, lines: readonly string[]): Edit {
  return (document) => {
    const node = nodeAt(document, path);
    if (lines.length === 0) drop(document, path);
    else if (isSeq(node)) splice(node, lines);
    else document.setIn(path, document.createNode(lines.map(scalar)));
  };
}

function splice(list: YAMLSeq, lines: readonly string[]): void {
  const before = list.items.map((item) => scalarText(item) ?? "");
  let first = 0;
  while (first < lines.length && before[first] === lines[first]) first += 1;
  let last = 0;
  const most = Math.min(before.length, lines.length) - first;
  while (last < most && before.at(-1 - last) === lines.at(-1 - last)) last += 1;
  const changed = lines.slice(first, lines.length - last);
  for (const [i, text] of changed.entries()) {
    const node = list.items[first + i];
    if (first + i < before.length - last && isScalar(node)) setScalar(node, text);
    else list.items.splice(first + i, 0, scalar(text));
  }
  list.items.splice(first + changed.length, list.items.length - lines.length);
}

/** Opens a port to everybody, or no longer. Others who may connect stay. */
export function setGlobal(port: Path, isGlobal: boolean): Edit {
  return (document) => {
    const path = [...port, "to"];
    const list = nodeAt(document, path);
    const at = isSeq(list) ? list.items.findIndex((item) => isMap(item) && item.has("global")) : -1;
    if (at >= 0) setTarget(document, [...path, at], isGlobal);
    else if (isGlobal && isSeq(list)) list.add(document.createNode({ global: "true" }));
    else if (isGlobal) document.setIn(path, document.createNode([{ global: "true" }]));
  };
}

function setTarget(document: Document, path: Path, isGlobal: boolean): void {
  const target = nodeAt(document, path);
  if (isGlobal || (isMap(target) && target.items.length > 1)) setText([...path, "global"], String(isGlobal))(document);
  else remove(path)(document);
}

/** Removes an item of a list, and a list without items. */
export function remove(path: Path): Edit {
  return (document) => {
    drop(document, path);
    const list = nodeAt(document, path.slice(0, -1));
    if (isSeq(list) && list.items.length === 0) drop(document, path.slice(0, -1));
  };
}

/** Adds a port that everybody reaches. */
export function addPort(service: string): Edit {
  return (document) => {
    const path = ["services", service, "expose"];
    const list = nodeAt(document, path);
    const port = document.createNode(newPort(document, path));
    if (isSeq(list)) list.add(port);
    else document.setIn(path, document.createNode([port]));
  };
}

const FURTHER_PORT = 8080;

/** A port that leads to HTTP; a further one is another number. */
function newPort(document: Document, path: Path): object {
  const list = nodeAt(document, path);
  const to = [{ global: "true" }];
  if (!isSeq(list) || list.items.length === 0) return { port: "80", as: "80", to };
  const taken = list.items.flatMap((_, i) =>
    ["port", "as"].map((key) => scalarText(nodeAt(document, [...path, i, key]))),
  );
  let free = FURTHER_PORT;
  while (taken.includes(String(free))) free += 1;
  return { port: String(free), to };
}

const RESOURCES = { cpu: { units: "0.5" }, memory: { size: "512Mi" }, storage: { size: "1Gi" } };
const PLACEMENT = "anywhere";
const AMOUNT = "1000";

/** Adds a service with a profile of its own at the first placement; to an empty text, all that a file needs. */
export function addService(name: string): Edit {
  return (document) => {
    if (nodeAt(document, ["version"]) === undefined) {
      document.setIn(["version"], scalar("2.0"));
      const version = nodeAt(document, ["version"]);
      if (isScalar(version)) version.type = "QUOTE_DOUBLE";
    }
    const add = (path: Path, value: unknown): void => document.setIn(path, document.createNode(value));
    const placement = keysAt(document, ["profiles", "placement"])[0] ?? PLACEMENT;
    const pricing = ["profiles", "placement", placement, "pricing"];
    const profile = freeName(name, keysAt(document, ["profiles", "compute"]));
    const denom = denomOf(document, pricing);
    document.setIn(["services", name, "image"], scalar(""));
    addPort(name)(document);
    add(["profiles", "compute", profile], { resources: RESOURCES });
    add([...pricing, profile], { denom, amount: AMOUNT });
    add(["deployment", name], { [placement]: { profile, count: "1" } });
  };
}

function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let i = 2; taken.includes(free); i++) free = `${name}-${i}`;
  return free;
}

/** The denomination of a placement: one group has one. */
function denomOf(document: Document, pricing: Path): string {
  const [first = ""] = keysAt(document, pricing);
  return scalarText(nodeAt(document, [...pricing, first, "denom"])) ?? NATIVE_DENOM;
}

function keysAt(document: Document, path: Path): string[] {
  const node = nodeAt(document, path);
  return isMap(node) ? node.items.flatMap(({ key }) => scalarText(key) ?? []) : [];
}

/** Gives a service another name, also where other services name it. */
export function renameService(from: string, to: string): Edit {
  return (document) => {
    for (const path of [["services"], ["deployment"]]) renameKey(nodeAt(document, path), from, to);
    for (const name of keysAt(document, ["services"])) {
      const service = ["services", name];
      const ports = itemsAt(document, [...service, "expose"]);
      const named = [...ports.map((port) => [...port, "to"]), [...service, "dependencies"]];
      for (const path of named.flatMap((list) => itemsAt(document, list))) {
        const node = nodeAt(document, [...path, "service"]);
        if (isScalar(node) && scalarText(node) === from) setScalar(node, to);
      }
    }
  };
}

function renameKey(map: unknown, from: string, to: string): void {
  const key = isMap(map) ? map.items.map((pair) => pair.key).find((each) => scalarText(each) === from) : undefined;
  if (isScalar(key)) setScalar(key, to);
}

function itemsAt(document: Document, path: Path): Path[] {
  const list = nodeAt(document, path);
  return isSeq(list) ? list.items.map((_, i) => [...path, i]) : [];
}

/** Removes a service, and the profiles and placements that no other one uses. */
export function removeService(name: string): Edit {
  return (document) => {
    const own = uses(document, name);
    drop(document, ["services", name]);
    drop(document, ["deployment", name]);
    const others = keysAt(document, ["deployment"]).flatMap((other) => uses(document, other));
    for (const { place, profile } of own) {
      if (!others.some((use) => use.profile === profile)) drop(document, ["profiles", "compute", profile]);
      if (!others.some((use) => use.place === place)) drop(document, ["profiles", "placement", place]);
      else if (!others.some((use) => use.place === place && use.profile === profile))
        drop(document, ["profiles", "placement", place, "pricing", profile]);
    }
  };
}

/** Placements of a service, and its profile there. */
function uses(document: Document, service: string): { readonly place: string; readonly profile: string }[] {
  return keysAt(document, ["deployment", service]).map((place) => {
    const profile = scalarText(nodeAt(document, ["deployment", service, place, "profile"])) ?? "";
    return { place, profile };
  });
}
