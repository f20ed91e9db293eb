import { toUtf8 } from "../../util/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { Place, Report } from "../report.ts";

/** Limits of one attribute list. */
export interface AttributeLimits {
  readonly entries: number;
  readonly keyMax: number;
  readonly valueBytes: number;
}

/** Default limits of a provider's attributes, its own and the audited ones. */
export const ATTRIBUTE_LIMITS: AttributeLimits = { entries: 128, keyMax: 127, valueBytes: 256 };

/** No chain may allow more: rules without state go up to here. */
export const MOST_ATTRIBUTES: AttributeLimits = { entries: 256, keyMax: 127, valueBytes: 1024 };

const KEY_MIN = 2;
const KEY = /^[a-zA-Z][\w/.-]{1,126}$/;
const REQUIRED_KEY = /^[a-zA-Z][\w/.-]{1,126}\*?$/;

/** Whether a key may be offered by a provider, or requested, in which case it may end in `*`. */
export function isAttributeKey(key: string, kind: "offered" | "required"): boolean {
  return (kind === "required" ? REQUIRED_KEY : KEY).test(key);
}

/** Reports a list of attributes in a file that is longer than the chain takes. */
export function checkAttributeCount(report: Report, place: Place, list: { count: number; max: number }): void {
  if (list.count <= list.max) return;
  report.error(place, "range", { problem: `${list.count} attributes`, remedy: `write at most ${list.max}` });
}

/** The fault of a key, undefined if there is none; the letters are those of `KEY`. */
function keyFault(key: string, kind: "offered" | "required", max: number): string | undefined {
  const name = kind === "required" ? key.replace(/\*$/, "") : key;
  if (name.length < KEY_MIN) return `it is too short, a key has ${KEY_MIN} to ${max} characters`;
  if (name.length > max) return `it is too long, a key has ${KEY_MIN} to ${max} characters`;
  if (isAttributeKey(key, kind)) return undefined;
  if (!/^[a-zA-Z]/.test(name)) return "a key begins with a letter from a to z";
  if (name.endsWith("*")) return "only a requested key may end in *";
  return "a key may only have letters, digits and _ / . -";
}

/** A sentence about the first attribute that is not allowed; `required` lists may end a key in `*`. */
export function attributeFault(
  attributes: readonly Attribute[],
  kind: "offered" | "required",
  { entries, keyMax, valueBytes }: AttributeLimits = ATTRIBUTE_LIMITS,
): string | undefined {
  if (attributes.length > entries) return `${attributes.length} attributes, at most ${entries} are allowed`;
  const seen = new Set<string>();
  for (const { key, value } of attributes) {
    const fault = keyFault(key, kind, keyMax);
    if (fault !== undefined) return `invalid attribute key "${key.slice(0, 128)}": ${fault}`;
    if (toUtf8(value).length > valueBytes) return `the value of attribute ${key} is too long`;
    if (seen.has(key)) return `attribute ${key} appears twice`;
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
