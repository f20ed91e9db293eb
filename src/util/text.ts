import { largest } from "./lists.ts";

/** Control and formatting characters, lone surrogates and the like: what a terminal would obey or hide. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, "gu");
const LAYOUT = new Set(["\n", "\t"]);

/** White space as other tools of the ecosystem know it: Unicode's, which is not the same as that of `String.trim`. */
const SPACE = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const AT_START = new RegExp(`^${SPACE}+`);
const ONE = new RegExp(SPACE);
const PLAIN = /^[\w@%+=:,./-]+$/;

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/**
 * The text with every character that a terminal would obey or hide as a JSON escape; line ends and tabs stay. Valid JSON
 * stays valid and keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(EVERY_UNPRINTABLE, (character) => (LAYOUT.has(character) ? character : escaped(character)));
}

/** A character as a JSON escape. */
export function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Sequences and characters by which a program moves the cursor, renames the window or answers for the user; colours are told apart. */
const COLOUR = "\\u001b\\[[0-9;]*m";
const CONTROL = new RegExp(
  `(${COLOUR})|\\u001b\\[[0-9;?]*[ -/]*[@-~]|\\u001b\\][^\\u0007]*\\u0007?|[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]`,
  "gu",
);

/** A line written by an untrusted program, made safe for a terminal. Colours stay unless `isPlain` is set. */
export function cleanLine(text: string, { isPlain = false } = {}): string {
  return text.replace(CONTROL, (_, colour: string | undefined) => (isPlain ? "" : (colour ?? "")));
}

/** The text without white space at both ends. */
export function trimSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ONE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(AT_START, "");
}

/** A word quoted for a POSIX shell, so that a path with spaces can be copied from a remedy. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Rows of text in columns, two spaces apart; the last column is not padded. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const columns = largest(
    rows.map((row) => row.length),
    0,
  );
  const widths = Array.from({ length: columns }, (_, at) =>
    largest(
      rows.map((row) => (row[at] ?? "").length),
      0,
    ),
  );
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

/**
 * The network that counts as one client: an IPv4 address, or an IPv6 network of the size that a customer gets (RFC
 * 6177).
 */
export function clientNetwork(address: string): string {
  const [plain = ""] = address.split("%");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  // An IPv4 address at the end takes the place of two.
  const have = first.length + last.length + (plain.includes(".") ? 1 : 0);
  const parts = tail === undefined ? first : [...first, ...Array<string>(8 - have).fill("0"), ...last];
  const ipv4 = mappedAddress(parts);
  if (ipv4 !== undefined) return ipv4;
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${network.join(":")}::/64`;
}

/** The IPv4 address in the parts of an IPv4-mapped one (RFC 4291 section 2.5.5.2), written in either way. */
function mappedAddress(parts: readonly string[]): string | undefined {
  const values = parts.slice(0, 6).map((part) => Number.parseInt(part, 16));
  if (values[5] !== 0xffff || values.slice(0, 5).some((value) => value !== 0)) return undefined;
  const [first = "", second] = parts.slice(6);
  if (second === undefined) return first;
  const bytes = [first, second].map((part) => Number.parseInt(part, 16)).flatMap((value) => [value >> 8, value & 0xff]);
  return bytes.join(".");
}

/** The value of a JSON text; undefined for any other text. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** 4 or 6 for an IP address of that version, 0 for any other text. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text)) return 4;
  return /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`) ? 6 : 0;
}
