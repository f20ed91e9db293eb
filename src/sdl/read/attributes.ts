import { toUtf8 } from "../../util/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { Place, Report } from "../report.ts";

/** Limits of one attribute list. */
export const ATTRIBUTE_LIMITS = { entries: 256, valueBytes: 256, keyLength: { min: 2, max: 127 } } as const;

const KEY = /^[a-zA-Z][\w/.-]{1,126}$/;
const REQUIRED_KEY = /^[a-zA-Z][\w/.-]{1,126}\*?$/;

/** Whether a key may be offered by a provider, or asked for: then it may end in `*`. */
export function isAttributeKey(key: string, kind: "offered" | "required"): boolean {
  return (kind === "required" ? REQUIRED_KEY : KEY).test(key);
}

/** Reports a list of attributes in a file that is longer than the chain takes. */
export function checkAttributeCount(report: Report, place: Place, count: number): void {
  const { entries } = ATTRIBUTE_LIMITS;
  if (count <= entries) return;
  report.error(place, "range", { problem: `${count} attributes`, remedy: `write at most ${entries}` });
}

/** What is wrong with a key; bounds and letters are those of `KEY`. */
function keyFault(key: string, kind: "offered" | "required"): string {
  const { min, max } = ATTRIBUTE_LIMITS.keyLength;
  const name = kind === "required" ? key.replace(/\*$/, "") : key;
  if (name.length < min) return `it is too short, a key has ${min} to ${max} characters`;
  if (name.length > max) return `it is too long, a key has ${min} to ${max} characters`;
  if (!/^[a-zA-Z]/.test(name)) return "a key begins with a letter from a to z";
  if (name.endsWith("*")) return "only what is asked for may end in *";
  return "a key has letters, digits and _ / . - alone";
}

/** A sentence about the first attribute that is not allowed; `required` lists may end a key in `*`. */
export function attributeFault(attributes: readonly Attribute[], kind: "offered" | "required"): string | undefined {
  if (attributes.length > ATTRIBUTE_LIMITS.entries) {
    return `${attributes.length} attributes, at most ${ATTRIBUTE_LIMITS.entries} are allowed`;
  }
  const seen = new Set<string>();
  for (const { key, value } of attributes) {
    if (!isAttributeKey(key, kind)) return `invalid attribute key "${key.slice(0, 128)}": ${keyFault(key, kind)}`;
    if (toUtf8(value).length > ATTRIBUTE_LIMITS.valueBytes) return `the value of attribute ${key} is too long`;
    if (seen.has(key)) return `attribute ${key} is there twice`;
    seen.add(key);
  }
  return undefined;
}

/** Whether every required pair is offered; a required key may be a pattern ending in `*`. */
export function matchAttributes(required: readonly Attribute[], offered: readonly Attribute[]): boolean {
  return required.every((want) => offered.some((have) => keyMatches(want.key, have.key) && want.value === have.value));
}

function keyMatches(pattern: string, key: string): boolean {
  return pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : pattern === key;
}
