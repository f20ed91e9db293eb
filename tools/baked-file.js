// Stands in for the library's codegenv2/file.js in the bundle: tools/baked-descriptors.mjs writes what is read here.
import { createEmbeddedFileRegistry } from "../registry.js";

/** What a message of each kind has if nothing is set. */
const KINDS = globalThis.BAKED_KINDS;

function message([kind, set]) {
  for (const name in set)
    if (typeof set[name] === "object") set[name] = name === "$unknown" ? unknown(set[name]) : value(set[name]);
  return Object.assign(Object.create(KINDS[kind]), set);
}

/** A message is a number and what is set; a list holds only messages, only numbers or only texts. */
function value(of) {
  if (of.length === 2 && typeof of[0] === "number" && typeof of[1] === "object") return message(of);
  return of.map((item) => (typeof item === "object" ? message(item) : item));
}

function unknown(fields) {
  return fields.map((field) => ({ ...field, data: Buffer.from(field.data, "base64") }));
}

/**
 * The description of a file, as the library's own function makes it of base64. The imports have no imports here: nothing
 * is found through them, and the library would enter everything below each of them once for every way that leads there.
 */
export function fileDesc(json, imports = []) {
  const root = message(JSON.parse(json));
  const files = new Map(imports.map((file) => [file.proto.name, { ...file, dependencies: [] }]));
  root.dependency = [...files.keys()];
  const description = createEmbeddedFileRegistry(root, (name) => files.get(name)).getFile(root.name);
  return Object.assign(description, { dependencies: imports });
}
