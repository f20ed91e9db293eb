import { isIP } from "node:net";

/** Addresses of all ranges together. */
export const MAX_POOL = 65_536;

/** Bits of an address by the version of its protocol. */
const BITS = { 4: 32n, 6: 128n } as const;

type Version = keyof typeof BITS;

/** An address as a number, with its version. */
interface Numbered {
  readonly version: Version;
  readonly value: bigint;
}

/**
 * Every address of the ranges, each once and in their order: `203.0.113.0/28`, `198.51.100.10-198.51.100.20`,
 * `203.0.113.7`, as in load balancers, including the first and last of a network. Undefined for other forms, or for
 * more than `MAX_POOL` addresses.
 */
export function addressPool(words: readonly string[]): readonly string[] | undefined {
  const all = new Set<string>();
  for (const word of words) {
    const [first, last] = rangeOf(word) ?? [];
    if (first === undefined || last === undefined) return undefined;
    if (last.value - first.value >= BigInt(MAX_POOL - all.size)) return undefined;
    for (let { value } = first; value <= last.value; value++) all.add(textOf({ version: first.version, value }));
  }
  return [...all];
}

/** First and last. */
function rangeOf(word: string): readonly [Numbered, Numbered] | undefined {
  const [, network = "", bits] = /^([^/]+)\/(\d{1,3})$/.exec(word) ?? [];
  if (bits !== undefined) return networkOf(network, BigInt(bits));
  const [from = "", to = from, ...more] = word.split("-");
  const [first, last] = [numberOf(from), numberOf(to)];
  if (first === undefined || last === undefined || more.length > 0) return undefined;
  return first.version === last.version && first.value <= last.value ? [first, last] : undefined;
}

/** A network begins at its own address: another one is more likely a slip than wanted. */
function networkOf(text: string, bits: bigint): readonly [Numbered, Numbered] | undefined {
  const first = numberOf(text);
  if (first === undefined || bits > BITS[first.version]) return undefined;
  const size = 1n << (BITS[first.version] - bits);
  if (first.value % size !== 0n) return undefined;
  return [first, { ...first, value: first.value + size - 1n }];
}

function numberOf(text: string): Numbered | undefined {
  const version = text.includes("%") ? 0 : isIP(text);
  if (version === 4) return { version, value: joined(text.split(".").map(Number), 8n) };
  if (version === 6) return { version, value: joined(groupsOf(text), 16n) };
  return undefined;
}

/** The eight groups of an address in any of its forms. */
function groupsOf(text: string): number[] {
  // URLs have the one form without IPv4 in it.
  const plain = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const numbers = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | BigInt(part), 0n);
}

function textOf({ version, value }: Numbered): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> (16n * BigInt(7 - i))) & 65_535n).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** The pool's form of an address; undefined if the text is not one. */
export function normalAddress(text: string): string | undefined {
  const number = numberOf(text);
  return number === undefined ? undefined : textOf(number);
}
