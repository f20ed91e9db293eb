import { allFlags } from "../command/command-line.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import type { CommandSpec } from "../command/spec.ts";
import { AMBIGUOUS, SWITCHES } from "../command/words/normalize.ts";

/** A word that is allowed at a place of the command line. */
export interface Candidate {
  readonly word: string;
  readonly summary: string;
}

/** What a shell needs to know about the command tree. Places are the words of a command with spaces between. */
export interface CompletionModel {
  /** Sub-commands by place; the root is the empty text. */
  readonly children: ReadonlyMap<string, readonly Candidate[]>;
  /** Other spellings of sub-commands: place and word to the place that is meant. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Flags by place, in all their spellings. */
  readonly flags: ReadonlyMap<string, readonly Candidate[]>;
  /** Values by `place:flag`; `*` stands for every place without its own row. */
  readonly values: ReadonlyMap<string, FlagValues>;
  /** Places whose arguments are files. */
  readonly files: readonly string[];
  /** Flags that take no value anywhere. */
  readonly switches: readonly string[];
  /** Flags that take a value at some places only, and those places as `place:flag`. */
  readonly ambiguous: readonly string[];
  readonly valued: readonly string[];
}

/** Words that a flag's value is one of, or that it is a file or a directory. */
export type FlagValues = readonly string[] | "files" | "directories";

interface Place {
  readonly path: string;
  readonly spec: CommandSpec;
  readonly children: readonly CommandSpec[];
}

/** Walks the command tree. */
export async function completionModel(root: CommandSpec): Promise<CompletionModel> {
  const places = await placesOf(root, []);
  const groups = places.filter(({ children }) => children.length > 0);
  return {
    children: new Map(groups.map(({ path, children }) => [path, children.map(candidateOf)])),
    aliases: new Map(groups.flatMap(aliasesOf)),
    flags: new Map(places.map(({ path, spec }) => [path, flagsOf(spec).flatMap(flagCandidates)])),
    values: valuesOf(places),
    files: places.filter(({ spec }) => /file/.test(spec.args ?? "")).map(({ path }) => path),
    switches: [...SWITCHES],
    ambiguous: [...AMBIGUOUS],
    valued: places.filter(({ children }) => children.length === 0).flatMap(valuedFlags),
  };
}

async function placesOf(spec: CommandSpec, words: readonly string[]): Promise<Place[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => placesOf(child, [...words, child.name])));
  return [{ path: words.join(" "), spec, children }, ...below.flat()];
}

function candidateOf({ name, summary }: CommandSpec): Candidate {
  return { word: name, summary };
}

function aliasesOf({ path, children }: Place): [string, string][] {
  const full = (name: string): string => (path === "" ? name : `${path} ${name}`);
  return children.flatMap(({ name, aliases = [] }) =>
    aliases.map((alias): [string, string] => [full(alias), full(name)]),
  );
}

function valuedFlags({ path, spec }: Place): string[] {
  const valued = flagsOf(spec).filter(({ value }) => value !== undefined);
  const words = valued.flatMap(flagCandidates).map(({ word }) => word);
  return words.filter((word) => AMBIGUOUS.has(word)).map((word) => `${path}:${word}`);
}

const HELP: FlagSpec = { name: "help", short: "h", summary: "show this help" };

function flagsOf(spec: CommandSpec): readonly FlagSpec[] {
  return [...allFlags(spec).filter(({ hidden }) => hidden !== true), HELP];
}

function flagCandidates({ name, short, summary }: FlagSpec): Candidate[] {
  const long = { word: `--${name}`, summary };
  return short === undefined ? [long] : [long, { word: `-${short}`, summary }];
}

/** Values of each spelling; the most common ones are under `*`. */
function valuesOf(places: readonly Place[]): Map<string, FlagValues> {
  const known = new Map<string, Map<string, FlagValues>>();
  for (const { path, spec } of places) {
    for (const flag of flagsOf(spec)) {
      for (const { word } of flagCandidates(flag)) {
        const rows = known.get(word) ?? new Map<string, FlagValues>();
        known.set(word, rows.set(path, flagValues(flag)));
      }
    }
  }
  return new Map([...known].flatMap(([word, rows]) => compacted(word, rows)));
}

function compacted(word: string, rows: ReadonlyMap<string, FlagValues>): [string, FlagValues][] {
  const counts = new Map<string, number>();
  for (const values of rows.values()) counts.set(textOf(values), (counts.get(textOf(values)) ?? 0) + 1);
  const [common] = [...counts].toSorted(([, a], [, b]) => b - a);
  const all = [...rows].find(([, values]) => textOf(values) === common?.[0]);
  const others = [...rows].filter(([, values]) => textOf(values) !== common?.[0]);
  const own = others.map(([path, values]): [string, FlagValues] => [`${path}:${word}`, values]);
  return all === undefined || (all[1].length === 0 && own.length === 0) ? own : [...own, [`*:${word}`, all[1]]];
}

function textOf(values: FlagValues): string {
  return typeof values === "string" ? values : values.join(" ");
}

function flagValues({ value, choices }: FlagSpec): FlagValues {
  if (value === undefined) return [];
  if (choices !== undefined) return choices;
  if (value.includes("file")) return "files";
  return value.includes("dir") ? "directories" : [];
}
