import { nearest } from "../../util/index.ts";
import { show } from "../errors.ts";
import type { Complaint, Place, Report } from "../report.ts";
import type { Entry, MapNode, Node, ScalarNode } from "./document.ts";
import type { Habits } from "./habits.ts";

/** The expected kind of a value, and how to write it. */
export interface Want {
  /** `a port`. */
  readonly what: string;
  /** `write a number from 1 to 65535`. */
  readonly remedy: string;
}

/** The names that a map may have. */
export interface Shape {
  readonly keys: readonly string[];
  readonly habits?: Habits;
}

/** The value or the complaint about it. */
export type Parsed<T> = { readonly value: T } | Complaint;

export function describe(node: Node): string {
  if (node.kind === "scalar") return show(node.text);
  if (node.kind === "null") return "an empty value";
  return `a ${node.kind}`;
}

/** Reads typed values out of nodes; a value that does not fit is reported and read as undefined. */
export class Reader {
  readonly report: Report;

  constructor(report: Report) {
    this.report = report;
  }

  wrong(node: Node, want: Want): undefined {
    const problem = `${describe(node)} is not ${want.what}`;
    this.report.error(node.place, node.kind === "scalar" ? "value" : "type", { problem, remedy: want.remedy });
    return undefined;
  }

  /** Text as written; numbers and switches without quotes count as their spelling. */
  text(node: Node, want: Want): string | undefined {
    return node.kind === "scalar" && node.text !== "" ? node.text : this.wrong(node, want);
  }

  /** Text that a function understands or complains about. */
  parsed<T>(node: Node, want: Want, parse: (text: string) => Parsed<T>): T | undefined {
    if (node.kind !== "scalar") return this.wrong(node, want);
    const result = parse(node.text);
    if ("value" in result) return result.value;
    this.report.error(node.place, "value", result);
    return undefined;
  }

  integer(node: Node, want: Want, range: { readonly min: number; readonly max: number }): number | undefined {
    if (node.kind !== "scalar" || !/^\d{1,15}$/.test(node.text)) return this.wrong(node, want);
    const value = Number(node.text);
    if (!node.plain) return this.#respell(node, `text in quotes, not ${want.what}`, `write ${value} without quotes`);
    if (/^0\d/.test(node.text)) return this.#respell(node, "not a plain number", `write ${value}`);
    if (value >= range.min && value <= range.max) return value;
    const problem = `${value} is not ${want.what}`;
    this.report.error(node.place, "range", { problem, remedy: want.remedy });
    return undefined;
  }

  flag(node: Node): boolean | undefined {
    const value = node.kind === "scalar" ? FLAGS.get(node.text.toLowerCase()) : undefined;
    if (node.kind !== "scalar" || value === undefined) {
      return this.wrong(node, { what: "a switch", remedy: "write true or false" });
    }
    return node.plain ? value : this.#respell(node, "text in quotes, not a switch", `write ${value} without quotes`);
  }

  #respell(node: ScalarNode, not: string, remedy: string): undefined {
    this.report.error(node.place, "value", { problem: `${show(node.text)} is ${not}`, remedy });
    return undefined;
  }

  oneOf<T extends string>(node: Node, allowed: readonly T[], what: string): T | undefined {
    const found = node.kind === "scalar" ? allowed.find((item) => item === node.text) : undefined;
    if (found !== undefined) return found;
    const choice = allowed.length === 1 ? allowed.join("") : `one of ${allowed.join(", ")}`;
    return this.wrong(node, { what, remedy: `write ${choice}` });
  }

  /** Items of a list; none if the value is empty or not a list. */
  items(node: Node | undefined, want: Want): readonly Node[] {
    if (node === undefined || node.kind === "null") return [];
    if (node.kind === "list") return node.items;
    this.wrong(node, want);
    return [];
  }

  /** A list of texts; undefined if the value is empty or not such a list. */
  texts(node: Node | undefined, want: Want): readonly string[] | undefined {
    if (node === undefined || node.kind === "null") return undefined;
    if (node.kind !== "list") return this.wrong(node, want);
    const texts = node.items.map((item) => (item.kind === "scalar" ? item.text : this.wrong(item, ITEM_WANT)));
    return texts.filter((text) => text !== undefined);
  }

  /** A map whose keys are names that the author chose. */
  named(node: Node | undefined, want: Want): ReadonlyMap<string, Entry> | undefined {
    if (node === undefined || node.kind === "null") return undefined;
    return node.kind === "map" ? node.entries : this.wrong(node, want);
  }

  /** A map with known keys; unknown ones are reported. */
  fields(node: Node, shape: Shape, want: Want): Fields | undefined {
    return node.kind === "map" ? new Fields(node, shape, this.report) : this.wrong(node, want);
  }
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["on", true],
  ["false", false],
  ["no", false],
  ["off", false],
]);

const ITEM_WANT: Want = {
  what: "text",
  remedy: 'write one text per item, with quotes where it holds ": " or is empty',
};

/** The values of a map with known keys. An empty value counts as absent. */
export class Fields {
  readonly place: Place;
  readonly #map: MapNode;
  readonly #report: Report;
  /** Known keys that an unknown key was probably meant to be: their absence is already reported. */
  readonly #meant = new Set<string>();

  constructor(map: MapNode, shape: Shape, report: Report) {
    this.place = map.place;
    this.#map = map;
    this.#report = report;
    for (const entry of map.entries.values()) {
      if (!shape.keys.includes(entry.key)) this.#unknown(entry, shape);
    }
  }

  get(key: string): Node | undefined {
    const node = this.#map.entries.get(key)?.value;
    return node?.kind === "null" ? undefined : node;
  }

  /** The entry, even if its value is empty. */
  entry(key: string): Entry | undefined {
    return this.#map.entries.get(key);
  }

  /** The value, or a report that it is missing. */
  require(key: string, remedy: string): Node | undefined {
    const node = this.get(key);
    if (node !== undefined || this.#meant.has(key)) return node;
    const place = this.entry(key)?.place ?? this.place;
    const problem = this.entry(key) === undefined ? `"${key}" is missing` : `"${key}" is empty`;
    this.#report.error(place, "missing", { problem, remedy });
    return undefined;
  }

  #unknown(entry: Entry, shape: Shape): void {
    const habit = shape.habits?.get(entry.key);
    const problem = `unknown key ${show(entry.key)}`;
    if (habit !== undefined) {
      if (habit.replaces !== undefined) this.#meant.add(habit.replaces);
      const ignored = { problem: `the key ${show(entry.key)} is ignored`, remedy: habit.remedy };
      if (habit.harmless) this.#report.warn(entry.place, "unknownKey", ignored);
      else this.#report.error(entry.place, "unknownKey", { problem, remedy: habit.remedy });
      return;
    }
    const close = nearest(entry.key, shape.keys);
    if (close !== undefined) this.#meant.add(close);
    const known = shape.keys.length === 0 ? "remove it" : `the keys here are ${shape.keys.join(", ")}`;
    const remedy = close === undefined ? known : `did you mean "${close}"?`;
    this.#report.error(entry.place, "unknownKey", { problem, remedy });
  }
}
