import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CometKeys, homePaths, NODE_SETTINGS } from "../../node/index.ts";
import { didYouMean, ENV_PREFIX, replaceFile, type SettingRow, type SettingSource } from "../../util/index.ts";
import { flagSettings } from "../command/flag-settings.ts";
import type { Flags } from "../command/flags.ts";
import { configPath, homeOf } from "../command/home.ts";
import { parseToml } from "../config/file.ts";
import { CONFIG_KEYS } from "../config/keys.ts";
import { commandError } from "../errors.ts";
import { readTextFile } from "../terminal/files.ts";

/** The files of a node's settings: one for the engine and JSON-RPC, one for all else. */
const FILES = ["config.toml", "app.toml"] as const;
type SettingsFile = (typeof FILES)[number];

/** The table of `config.toml` with keys of CometBFT that have no setting of ours. */
const PASSED_ON = "cometbft";
/** Keys of CometBFT's table `p2p`. */
type PeerKeys = Readonly<Record<string, boolean>>;
/** For nodes with private addresses: CometBFT keeps them like public ones. */
export const PRIVATE_NETWORK: PeerKeys = { addr_book_strict: false };
/** For nodes that share an address. */
export const ONE_MACHINE: PeerKeys = { ...PRIVATE_NETWORK, allow_duplicate_ip: true };
const FILE_MODE = 0o600;
const MAX_BYTES = 1024 * 1024;
const OF_ENGINE =
  /^(?:moniker$|block-interval$|priv_validator_laddr$|proxy_app$|double-sign-check-height$|p2p\.|rpc\.|mempool\.|instrumentation\.)/;
const ROWS: readonly SettingRow[] = Object.values(NODE_SETTINGS);

/** The place of a setting in its file. */
interface Place {
  readonly file: SettingsFile;
  /** Empty above all tables. */
  readonly table: string;
  readonly key: string;
}

/** The reference's names: keys of `config.toml` have `_`, keys of `app.toml` have `-`. */
function placeOf({ name }: SettingRow): Place {
  const dot = name.indexOf(".");
  const [table, key] = dot < 0 ? ["", name] : [name.slice(0, dot), name.slice(dot + 1)];
  return OF_ENGINE.test(name)
    ? { file: "config.toml", table, key: key.replaceAll("-", "_") }
    : { file: "app.toml", table, key };
}

const pathOf = (home: string, file: SettingsFile): string => join(homePaths(home).config, file);

/** The settings of a node: flag, then environment, then the files of its home, then default. */
export function nodeSettings(flags: Flags): SettingSource {
  const base = flagSettings(flags);
  const home = homeOf(flags);
  const given = readSettingsFiles(home);
  return {
    ...base,
    text: (row) => (flags.given(row.name) ? undefined : given.get(row.name)) ?? base.text(row),
    label: (row) => (flags.given(row.name) || !given.has(row.name) ? base.label(row) : `${row.name} in ${home}/config`),
  };
}

/** The values in the files, by the names of the settings. Throws one sentence on an unknown key. */
export function readSettingsFiles(home: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of FILES) {
    const path = pathOf(home, file);
    for (const [name, value] of entriesOf(ownTables(file, readToml(path))))
      found.set(settingOf({ file, name, path }).name, textOf(path, name, value));
  }
  return found;
}

/** Keys of the table `[cometbft]` and of tables in it, which CometBFT gets unchanged. */
export function engineKeys(home: string): CometKeys {
  const path = pathOf(home, "config.toml");
  const table = readToml(path)[PASSED_ON];
  const entries = entriesOf(isTable(table) ? table : {}).map(([name, value]) => {
    const place = `${PASSED_ON}.${name}`;
    if (!/^\w+(?:\.\w+)?$/.test(name)) throw commandError(`${path}: unknown key ${JSON.stringify(place)}`);
    return [name, tomlValue(path, place, value)] as const;
  });
  return Object.fromEntries(entries);
}

/** The table of a file; empty where there is none. */
function readToml(path: string): Readonly<Record<string, unknown>> {
  if (!existsSync(path)) return {};
  return parseToml(readTextFile(path, { what: "configuration file", maxBytes: MAX_BYTES }), path);
}

function ownTables(file: SettingsFile, toml: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (file !== "config.toml" || !isTable(toml[PASSED_ON])) return toml;
  return Object.fromEntries(Object.entries(toml).filter(([name]) => name !== PASSED_ON));
}

/** The entries of the tables, named `table.key`. */
function entriesOf(toml: Readonly<Record<string, unknown>>): (readonly [string, unknown])[] {
  return Object.entries(toml).flatMap(([name, value]) =>
    isTable(value)
      ? Object.entries(value).map(([key, inner]) => [`${name}.${key}`, inner] as const)
      : [[name, value] as const],
  );
}

function settingOf({ file, name, path }: { file: SettingsFile; name: string; path: string }): SettingRow {
  const keys = new Map(
    ROWS.map((row) => [row, placeOf(row)] as const)
      .filter(([, place]) => place.file === file)
      .map(([row, { table, key }]) => [table === "" ? key : `${table}.${key}`, row] as const),
  );
  const row = keys.get(name);
  if (row !== undefined) return row;
  const hint = didYouMean(name, keys.keys(), "remove the line");
  throw commandError(`${path}: unknown key ${JSON.stringify(name)}`, { hint });
}

function textOf(path: string, name: string, value: unknown): string {
  const known = tomlValue(path, name, value);
  return typeof known === "object" ? known.join(",") : String(known);
}

function tomlValue(path: string, name: string, value: unknown): string | number | boolean | readonly string[] {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (Array.isArray(value) && value.every((each): each is string => typeof each === "string")) return value;
  throw commandError(
    `${path}: the value of ${JSON.stringify(name)} is not a string, an integer, a boolean or a list of strings`,
    { hint: "correct or remove the line" },
  );
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * Writes the files of settings that a home lacks: every setting with its purpose, and its default unless a value is given.
 * The keys are for CometBFT.
 */
export function writeSettingsFiles(
  home: string,
  given: Readonly<Record<string, string>> = {},
  keys: PeerKeys = {},
): void {
  for (const file of FILES) {
    const passedOn = file === "config.toml" ? keysText(keys) : "";
    writeMissing(pathOf(home, file), `${settingsText(file, given)}${passedOn}`);
  }
  writeMissing(configPath(home), clientText());
}

function keysText(keys: PeerKeys): string {
  const lines = Object.entries(keys).map(([name, value]) => `${name} = ${value}\n`);
  return lines.length === 0 ? "" : `\n# CometBFT gets these keys unchanged.\n[${PASSED_ON}.p2p]\n\n${lines.join("")}`;
}

function writeMissing(path: string, text: string): void {
  if (!existsSync(path)) replaceFile(path, text, FILE_MODE);
}

/** The text of a file: keys above all tables first, then a table for each group. */
function settingsText(file: SettingsFile, given: Readonly<Record<string, string>>): string {
  const rows = ROWS.map((row) => ({ row, ...placeOf(row) })).filter((each) => each.file === file);
  const tables = [...new Set(rows.map(({ table }) => table))].sort();
  const groups = tables.map((table) => {
    const lines = rows
      .filter((each) => each.table === table)
      .map(({ row, key }) => `# ${row.summary}\n${key} = ${valueText(row, given[row.name])}\n`);
    return `${table === "" ? "" : `[${table}]\n\n`}${lines.join("\n")}`;
  });
  return `${head("svc start reads this file", "RPC_LADDR")}\n${groups.join("\n")}`;
}

function head(what: string, example: string): string {
  return `# ${what}. A flag, or a variable such as ${ENV_PREFIX}${example}, overrides a line here.\n`;
}

/** A setting's value in TOML: switches and numbers bare, everything else as text. */
function valueText(row: SettingRow, given: string | undefined): string {
  const text = given ?? row.default ?? (row.value === undefined ? "false" : "");
  return /^(?:true|false|\d{1,15})$/.test(text) ? text : JSON.stringify(text);
}

/** Every key of `client.toml`, commented out. */
function clientText(): string {
  const keys = CONFIG_KEYS.map(({ name, summary, default: value = "" }) => {
    return `# ${summary}\n# ${name} = ${JSON.stringify(value)}\n`;
  });
  return `${head("Settings of all commands: svc config <key> <value> sets one", "NODE")}\n${keys.join("\n")}`;
}
