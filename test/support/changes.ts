import type { BlockList } from "node:net";

/** Paths of the parts of a value that are other than in another one: `rpc.maxBatch`. Functions are left out. */
export function changes(before: unknown, after: unknown): string[] {
  const [old, now] = [leaves(before), leaves(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path)).sort();
}

function leaves(value: unknown, path: readonly string[] = []): Map<string, string> {
  if (typeof value === "function") return new Map();
  const parts = partsOf(value);
  if (parts === undefined) return new Map([[path.join("."), String(value)]]);
  return new Map(parts.flatMap(([key, part]) => [...leaves(part, [...path, key])]));
}

/** Undefined for values without parts. A list is one part: its length does not matter. */
function partsOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return [["", JSON.stringify(value, text)]];
  if (value instanceof Map) return [["", JSON.stringify([...value], text)]];
  if (isBlockList(value)) return [["", value.rules.join()]];
  return Object.entries(value);
}

function text(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

function isBlockList(value: object): value is BlockList {
  return "rules" in value && Array.isArray(value.rules);
}
