import { type Document, isCollection, isScalar, type Scalar } from "yaml";
import { pathInto } from "../../../sdl/index.ts";

/** Keys and positions that lead to a value of a file. */
export type Path = readonly (string | number)[];

/** `services.web.expose[0].port`: a path as faults name it. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : pathInto(text, key)), "");
}

/** Whether a path leads to a value inside of another. */
export function isWithin(path: string, outer: string): boolean {
  return path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}

/** The node at a path; undefined if there is none, `beyond` if an alias or a value stands in the way. */
export function nodeAt(document: Document, path: Path): unknown {
  let node: unknown = document.contents;
  for (const key of path) {
    if (node === null || node === undefined) return undefined;
    if (!isCollection(node)) return BEYOND;
    node = node.get(key, true);
  }
  return node ?? undefined;
}

/** A place of a document that only its text can reach. */
export const BEYOND = Symbol("beyond");

/** A value without quotes that stands for none. */
const NOTHING = /^(?:|~|null)$/i;

/** The text of a scalar as it was written, without quotes. */
export function scalarText(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined;
  const text = node.source ?? String(node.value);
  return node.type === "PLAIN" && NOTHING.test(text) ? undefined : text;
}

/** Gives a scalar another text; quotes stay, and come where the text would mean nothing without them. */
export function setScalar(node: Scalar, text: string): void {
  if (scalarText(node) === text) return;
  node.value = text;
  delete node.source;
  if (NOTHING.test(text) && (node.type === undefined || node.type === "PLAIN")) node.type = "QUOTE_DOUBLE";
}
