import type { DescMethod } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { type HttpRule, httpRule } from "../../wire/index.ts";
import { formatTemplate, parseTemplate, type Step } from "./template.ts";

/** One route to an rpc: the verb, the path, and the place of the request's fields. */
export interface Route {
  readonly method: DescMethod;
  /** `GET`, `POST`. */
  readonly verb: string;
  readonly steps: readonly Step[];
  /**
   * The field that the body holds, `*` for the whole request; empty where the query holds the fields that the path does
   * not.
   */
  readonly body: string;
}

/** Texts of the path by the names of the fields they are for. */
export type PathValues = ReadonlyMap<string, string>;

/** The routes of rpcs: for each its main one, then its further ones. Rpcs without the option have none. */
export function routesOf(methods: readonly DescMethod[]): Route[] {
  return methods.flatMap((method) => {
    const rule = httpRule(method);
    return rule === undefined ? [] : [rule, ...rule.additionalBindings].map((each) => routeOf(method, each));
  });
}

function routeOf(method: DescMethod, { pattern, body }: HttpRule): Route {
  assert(pattern.case !== undefined, `the route of ${method} has a verb`);
  return { method, verb: pattern.case.toUpperCase(), steps: parseTemplate(pattern.value), body };
}

/** Possible continuations of a path. */
interface Node {
  readonly words: Map<string, Node>;
  one: Node | undefined;
  /** Routes that end here, by verb. The first that accepts the request's texts is used. */
  readonly ends: Map<string, readonly Route[]>;
  /** Routes that take all remaining segments. */
  readonly rests: Map<string, readonly Route[]>;
}

/**
 * Finds the route of a path. A word takes precedence over a variable, and a variable over one that takes all remaining
 * segments.
 */
export class RouteTable {
  readonly #root = emptyNode();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /** The route of decoded segments and their values; undefined if no route matches. */
  find(verb: string, segments: readonly string[]): { readonly route: Route; readonly values: PathValues } | undefined {
    const routes = findIn(this.#root, verb, { segments, at: 0 }) ?? [];
    for (const route of routes) {
      const values = valuesOf(route.steps, segments);
      if (routes.length === 1 || takes(values)) return { route, values };
    }
    return undefined;
  }

  #add(route: Route): void {
    let node = this.#root;
    const last = route.steps.at(-1);
    for (const step of route.steps) {
      if (step.kind === "word") node = wordNode(node, step.word);
      if (step.kind === "one") node = node.one ??= emptyNode();
    }
    const ends = last?.kind === "rest" ? node.rests : node.ends;
    const routes = [...(ends.get(route.verb) ?? []), route].sort((a, b) => Number(isSpecial(b)) - Number(isSpecial(a)));
    assert(
      routes.length - routes.filter(isSpecial).length <= 1,
      `${route.verb} ${formatTemplate(route.steps)} is the route of two rpcs`,
    );
    ends.set(route.verb, routes);
  }
}

/** Texts by the fields that share their place in a path with another field, which takes all other texts. */
const SPECIAL: ReadonlyMap<string, RegExp> = new Map([["address_string", /^[a-z]+1[02-9ac-hj-np-z]{6,}$/]]);

function isSpecial({ steps }: Route): boolean {
  return steps.some((step) => step.kind !== "word" && SPECIAL.has(step.field));
}

function takes(values: PathValues): boolean {
  return [...values].every(([field, text]) => SPECIAL.get(field)?.test(text) ?? true);
}

function emptyNode(): Node {
  return { words: new Map(), one: undefined, ends: new Map(), rests: new Map() };
}

function wordNode(node: Node, word: string): Node {
  const next = node.words.get(word) ?? emptyNode();
  node.words.set(word, next);
  return next;
}

/** A path from one of its segments on, which need not be copied at every step. */
interface Rest {
  readonly segments: readonly string[];
  readonly at: number;
}

function findIn(node: Node, verb: string, { segments, at }: Rest): readonly Route[] | undefined {
  const first = segments[at];
  if (first === undefined) return node.ends.get(verb);
  const rest = { segments, at: at + 1 };
  const word = node.words.get(first);
  const found =
    (word === undefined ? undefined : findIn(word, verb, rest)) ??
    (node.one === undefined ? undefined : findIn(node.one, verb, rest));
  return found ?? node.rests.get(verb);
}

function valuesOf(steps: readonly Step[], segments: readonly string[]): PathValues {
  const values = new Map<string, string>();
  for (const [i, step] of steps.entries()) {
    if (step.kind === "one") values.set(step.field, segments[i] ?? "");
    if (step.kind === "rest") values.set(step.field, segments.slice(i).join("/"));
  }
  return values;
}
