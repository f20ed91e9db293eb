import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { errorText, makePrivateDirectory, replaceFile } from "../../util/index.ts";
import { configPath } from "../command/home.ts";
import { commandError } from "../errors.ts";
import { type ClientConfig, findLine, parseConfig, readConfigText, sectionOf } from "./file.ts";
import type { ConfigKey } from "./keys.ts";

/** A key that gets a new value, above the tables or in a profile's table. */
export interface ConfigChange {
  readonly key: ConfigKey;
  readonly value: string;
  readonly profile: string | undefined;
}

/**
 * Sets a key in `client.toml`, which is created if missing; all other lines stay. The new text is parsed before it
 * replaces the old one, so that a file is never damaged.
 */
export function setConfig(home: string, change: ConfigChange): void {
  const path = configPath(home);
  const before = existsSync(path) ? readConfigText(path) : "";
  const after = withChange(before, change);
  const { values, profiles } = readBack(before, after, path);
  const found = (change.profile === undefined ? values : profiles.get(change.profile))?.get(change.key.name) ?? "";
  if (found !== change.value) {
    throw commandError(`${path} has a form that svc config cannot change`, { hint: "edit it by hand" });
  }
  writePrivate(path, after);
}

/** The new text, parsed. If it cannot be parsed the old one could not be either, and its error names the right line. */
function readBack(before: string, after: string, path: string): ClientConfig {
  try {
    return parseConfig(after, path);
  } catch (error) {
    parseConfig(before, path);
    throw error;
  }
}

/** The text with one line replaced or added. */
export function withChange(text: string, { key, value, profile }: ConfigChange): string {
  const table = profile === undefined ? "" : `profiles.${profile}`;
  const entry = `${key.name} = ${key.isNumber === true && value !== "" ? value : JSON.stringify(value)}`;
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split("\n");
  const at = findLine(lines, table, key.name);
  if (at !== undefined) return joined(lines.with(at, entry));
  const section = sectionOf(lines, table);
  if (section === undefined) return joined([...lines, ...(lines.length === 0 ? [] : [""]), `[${table}]`, entry]);
  const { start, end } = section;
  const last = lines.slice(start, end).findLastIndex((line) => line.trim() !== "");
  const place = start + last + 1;
  const gap = place < lines.length && lines[place]?.trim() !== "" ? [""] : [];
  return joined(lines.toSpliced(place, 0, entry, ...gap));
}

function joined(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

function writePrivate(path: string, text: string): void {
  try {
    makePrivateDirectory(dirname(path));
  } catch (cause) {
    throw commandError(errorText(cause), { hint: "choose another --home", cause });
  }
  try {
    replaceFile(path, text);
  } catch (cause) {
    throw commandError(`cannot write ${path}: ${errorText(cause)}`, { hint: "choose another --home", cause });
  }
}
