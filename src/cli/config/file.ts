import { existsSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import { didYouMean, errorText } from "../../util/index.ts";
import { configPath } from "../command/home.ts";
import { commandError } from "../errors.ts";
import { readTextFile } from "../terminal/files.ts";
import { CONFIG_KEYS, type ConfigKey, configFault, findConfigKey } from "./keys.ts";

/** Values of keys that are set and not empty, as texts. */
export type ConfigValues = ReadonlyMap<string, string>;

/** The contents of `client.toml`. */
export interface ClientConfig {
  /** Values above the tables. */
  readonly values: ConfigValues;
  /** Values of the tables `[profiles.<name>]`. */
  readonly profiles: ReadonlyMap<string, ConfigValues>;
}

export const EMPTY_CONFIG: ClientConfig = { values: new Map(), profiles: new Map() };

const MAX_BYTES = 1024 * 1024;
const PROFILES = "profiles";
/** Keys that the reference tool writes into its home and that have no meaning here. */
const KEYS_OF_OTHERS: ReadonlySet<string> = new Set(["keyring-default-keyname", "grpc-address", "grpc-insecure"]);

/**
 * Reads `client.toml` of a home; an empty configuration if there is no file. Throws one sentence that names the line.
 */
export function readConfig(home: string): ClientConfig {
  const path = configPath(home);
  return existsSync(path) ? parseConfig(readConfigText(path), path) : EMPTY_CONFIG;
}

export function readConfigText(path: string): string {
  return readTextFile(path, { what: "configuration file", maxBytes: MAX_BYTES });
}

/** Reads the text of a `client.toml`; `path` is for errors. */
export function parseConfig(text: string, path: string): ClientConfig {
  const { [PROFILES]: profiles = {}, ...top } = parseToml(text, path);
  const place: Place = { text, path, table: "" };
  if (!isTable(profiles)) throw fault(place, PROFILES, `"${PROFILES}" is not a table: write [${PROFILES}.<name>]`);
  const tables = Object.entries(profiles).map(([name, table]) => {
    const inside = { ...place, table: `${PROFILES}.${name}` };
    if (!isTable(table)) throw fault(place, name, `profile "${name}" is not a table: write [${PROFILES}.${name}]`);
    if ("profile" in table) throw fault(inside, "profile", 'the key "profile" cannot be inside a profile');
    return [name, readValues(table, inside)] as const;
  });
  return { values: readValues(top, place), profiles: new Map(tables) };
}

/** The table of a TOML text; its keys are not checked. */
export function parseToml(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (cause) {
    const where = cause instanceof TomlError ? `${path}:${cause.line}:${cause.column}` : path;
    const [reason = ""] = errorText(cause)
      .replace(/^Invalid TOML document: /, "")
      .split("\n");
    throw commandError(`${where}: ${reason}`, { hint: 'write lines such as: node = "tcp://localhost:26657"', cause });
  }
}

/** The part of a file that an error may name. */
interface Place {
  readonly text: string;
  readonly path: string;
  /** Name of the table, empty above all tables. */
  readonly table: string;
}

function readValues(table: Readonly<Record<string, unknown>>, place: Place): ConfigValues {
  const values = Object.entries(table)
    .filter(([name]) => !KEYS_OF_OTHERS.has(name))
    .map(([name, value]) => [name, readValue(name, value, place)] as const);
  return new Map(values.filter(([, value]) => value !== ""));
}

function readValue(name: string, value: unknown, place: Place): string {
  const key = findConfigKey(name);
  if (key === undefined) throw unknownKey(name, place);
  const text = scalarText(key, value);
  if (text === undefined) {
    const form = key.isNumber === true ? "a whole number" : "a text in quotes";
    throw fault(place, name, `the value of "${name}" is not ${form}`);
  }
  const reason = text === "" ? undefined : configFault(key, text);
  if (reason !== undefined) throw fault(place, name, `${name}: ${JSON.stringify(text)} ${reason}`);
  return text;
}

function scalarText(key: ConfigKey, value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return key.isNumber === true && Number.isInteger(value) ? String(value) : undefined;
}

function unknownKey(name: string, place: Place): Error {
  const names = CONFIG_KEYS.map((key) => key.name);
  return fault(place, name, `unknown key "${name}"`, didYouMean(name, names, `its keys are ${names.join(", ")}`));
}

function fault({ text, path, table }: Place, key: string, reason: string, hint = "correct or remove the line"): Error {
  const line = findLine(text.split("\n"), table, key);
  return commandError(`${path}${line === undefined ? "" : `:${line + 1}`}: ${reason}`, { hint });
}

/** Index of the line that sets a key of a table, in the usual form; undefined when it is written in another. */
export function findLine(lines: readonly string[], table: string, key: string): number | undefined {
  const { start, end } = sectionOf(lines, table) ?? { start: 0, end: 0 };
  const at = lines.slice(start, end).findIndex((line) => /^\s*["']?([\w-]+)["']?\s*=/.exec(line)?.[1] === key);
  return at < 0 ? undefined : start + at;
}

/** The lines of a table, without its head; the lines before the first table if `table` is empty. */
export function sectionOf(
  lines: readonly string[],
  table: string,
): { readonly start: number; readonly end: number } | undefined {
  const heads = lines.flatMap((line, at) => (/^\s*\[/.test(line) ? [at] : []));
  const head = table === "" ? -1 : heads.find((at) => /^\s*\[\s*(.+?)\s*\]/.exec(lines[at] ?? "")?.[1] === table);
  if (head === undefined) return undefined;
  return { start: head + 1, end: heads.find((at) => at > head) ?? lines.length };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
