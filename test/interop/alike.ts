import { expect } from "vitest";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Checks that our answer equals the newer reference tool's, which prints queries in the manner of amino: empty fields
 * left out, an `Any` as type and value, durations as `1h0m0s`, fractions of times without trailing zeros.
 */
export function expectAlike(ours: Json, theirs: Json): void {
  expect(bare(ours)).toEqual(bare(theirs));
}

function bare(json: Json): Json {
  if (typeof json === "string") return inSeconds(withoutZeros(json));
  if (isList(json)) return json.map(bare);
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(flat(json)).map(([key, value]) => [key, bare(value)] as const);
  return Object.fromEntries(entries.filter(([key, value]) => key !== "pagination" && !isEmpty(value)));
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

/** `{ type, value }` as `{ "@type", ... }`, and the member of a oneof where it stands in the message. */
function flat(json: { readonly [key: string]: Json }): { readonly [key: string]: Json } {
  const { type, value, ...others } = json;
  const isAny = typeof type === "string" && type.startsWith("/") && Object.keys(others).length === 0;
  const { Validators: oneof, ...rest } = isAny ? { "@type": type, ...(value as typeof json) } : json;
  return { ...rest, ...((oneof as { readonly value?: object } | null | undefined)?.value ?? {}) };
}

function isEmpty(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === "" || value === "0" || value === 0 || value === false || value === "0s";
}

function withoutZeros(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT[\d:]{8}\.\d*?)0+Z$/, "$1Z").replace(/\.Z$/, "Z");
}

const UNITS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

function inSeconds(text: string): string {
  if (!/^(?:\d+h)?(?:\d+m)?\d+s$/.test(text)) return text;
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  return `${parts.reduce((sum, [, number = "0", unit = "s"]) => sum + Number(number) * (UNITS[unit] ?? 0), 0)}s`;
}
