import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** A public name and its docstring. */
export interface SourceExport {
  readonly name: string;
  readonly kind: "function" | "class" | "type" | "value";
  /** Parameters by name, for functions. */
  readonly parameters: readonly string[];
  /** The docstring as one text; empty where there is none. */
  readonly doc: string;
  /** Methods, for classes. */
  readonly methods: readonly { readonly name: string; readonly parameters: readonly string[]; readonly doc: string }[];
  /** Path of the file that declares it, from the folder of the checkout. */
  readonly file: string;
}

/** Where a name is declared: offset of the declaration in its file. */
interface Origin {
  readonly file: string;
  readonly at: number;
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;
const STAR = /^export (?:type )?\* from "(\.[^"]+)";$/gm;
const NAMED = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;$/gm;
const IMPORTED = /^import (?:type )?\{([^}]*)\} from "([^"]+)";$/gm;

const METHOD = /^ {2}(?:static )?(?:async )?\*?([a-z]\w*)(?:<[^\n(]*>)?\(/gm;

const KINDS: Readonly<Record<string, SourceExport["kind"]>> = {
  function: "function",
  class: "class",
  interface: "type",
  type: "type",
};

const KIND_ORDER: readonly SourceExport["kind"][] = ["function", "class", "value", "type"];

function byKind(a: SourceExport, b: SourceExport): number {
  return KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind) || (a.name < b.name ? -1 : 1);
}

/** The text of the docstring in front of `at`, without its stars. */
function docBefore(text: string, at: number): string {
  const [, body = ""] = /\/\*\*((?:(?!\*\/).)*)\*\/\s*$/s.exec(text.slice(0, at)) ?? [];
  const lines = body.replaceAll(/^\s*\* ?/gm, "").replaceAll(/^\s*@generated .*$/gm, "");
  return readableTags(lines.replaceAll(/\s+/g, " ").trim());
}

/** Every tag of a docstring, as a sentence. */
function readableTags(doc: string): string {
  const [about = "", ...tags] = doc.split(/ ?@(?=param |throws )/);
  const sentences = tags.map((tag) => {
    const text = tag.replace(/^param ([\w$]+) /, "`$1`: ").replace(/^throws `?([\w$.]+)`?/, "Throws `$1`");
    return `${text.trim().replace(/\.$/, "")}.`;
  });
  return [about, ...sentences].filter((text) => text !== "").join(" ");
}

/** The docstring at the head of a file. */
export function fileDoc(text: string): string {
  const [head = ""] = /^\/\*\*.*?\*\/\n/s.exec(text) ?? [];
  return docBefore(head, head.length);
}

function items(names: string): { readonly from: string; readonly to: string }[] {
  return names
    .split(",")
    .map((text) => /^(?:type )?([\w$]+)(?: as ([\w$]+))?$/.exec(text.trim()))
    .flatMap((match) => (match?.[1] === undefined ? [] : [{ from: match[1], to: match[2] ?? match[1] }]));
}

/** Names of the parameters of a function whose declaration begins at `at`. */
function parametersAt(text: string, at: number): string[] {
  const list = balanced(text, text.indexOf("(", skipGenerics(text, at)));
  return topLevel(list).map((parameter) => /^\s*([\w$]+)/.exec(parameter)?.[1] ?? "options");
}

/** Public methods of a class whose declaration begins at `at`. */
function methodsAt(text: string, at: number): SourceExport["methods"] {
  const body = text.slice(0, text.indexOf("\n}\n", at));
  return [...body.matchAll(METHOD)]
    .filter(({ index, 1: name }) => index > at && name !== "constructor")
    .map(({ index, 1: name = "" }) => ({ name, parameters: parametersAt(text, index), doc: docBefore(text, index) }));
}

function skipGenerics(text: string, at: number): number {
  const [head = ""] = /^[^(<]*/.exec(text.slice(at)) ?? [];
  const open = at + head.length;
  return text[open] === "<" ? open + balanced(text, open).length : open;
}

/** The text between a bracket and its counterpart. */
function balanced(text: string, open: number): string {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const char = text[at] ?? "";
    if ("([{<".includes(char)) depth += 1;
    else if (")]}".includes(char) || (char === ">" && text[at - 1] !== "=")) depth -= 1;
    if (depth === 0) return text.slice(open + 1, at);
  }
  return "";
}

function topLevel(list: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [i, char] of [...list].entries()) {
    if ("([{<".includes(char)) depth += 1;
    else if (")]}".includes(char) || (char === ">" && list[i - 1] !== "=")) depth -= 1;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.filter((part) => part.trim() !== "");
}

/** Finds what modules export, and where each export is declared and described. */
export class Sources {
  readonly #root: string;
  readonly #texts = new Map<string, string>();

  /** `root` is the folder of the checkout. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Everything that a file exports: functions, classes and values before types, then by name. */
  exportsOf(path: string): SourceExport[] {
    const file = join(this.#root, path);
    return this.#named(file)
      .map((name) => this.#describe(file, name))
      .sort(byKind);
  }

  /** Names that a file exports, with the names of files that it exports whole. */
  #named(file: string): string[] {
    const text = this.#text(file);
    const own = [...text.matchAll(NAMED)].flatMap(([, list = ""]) => items(list).map(({ to }) => to));
    const others = [...text.matchAll(STAR)].flatMap(([, target = ""]) => this.#named(resolve(dirname(file), target)));
    return [...own, ...others];
  }

  #describe(file: string, name: string): SourceExport {
    const origin = this.#find(file, name);
    if (origin === undefined) throw new Error(`${file} exports ${name}, which is declared nowhere`);
    const text = this.#text(origin.file);
    const [, word = ""] = /^export (?:declare )?(?:abstract )?(?:async )?(\w+)/.exec(text.slice(origin.at)) ?? [];
    const kind = KINDS[word] ?? "value";
    const parameters = kind === "function" ? parametersAt(text, origin.at) : [];
    const methods = kind === "class" ? methodsAt(text, origin.at) : [];
    const doc = docBefore(text, origin.at);
    return { name, kind, parameters, methods, doc, file: relative(this.#root, origin.file) };
  }

  /** The declaration of a name; for a name from a package, the line that exports it again. */
  #find(file: string, name: string): Origin | undefined {
    const text = this.#text(file);
    const own = [...text.matchAll(DECLARED)].find((match) => match[2] === name);
    if (own !== undefined) return { file, at: own.index };
    for (const match of text.matchAll(NAMED)) {
      const item = items(match[1] ?? "").find(({ to }) => to === name);
      if (item === undefined) continue;
      const origin = match[2] === undefined ? this.#imported(text, item.from) : { from: item.from, target: match[2] };
      const found = origin === undefined ? undefined : this.#findIn(file, origin.target, origin.from);
      // A name that a file imports and exports again may be described there, for that file's readers.
      const isDescribedHere = match[2] === undefined && docBefore(text, match.index) !== "";
      return found === undefined || isDescribedHere ? { file, at: match.index } : found;
    }
    for (const [, target = ""] of text.matchAll(STAR)) {
      const found = this.#findIn(file, target, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #findIn(file: string, target: string, name: string): Origin | undefined {
    if (!target.startsWith(".")) return undefined;
    const path = resolve(dirname(file), target);
    const types = path.replace(/\.js$/, ".d.ts");
    return existsSync(types) ? this.#find(types, name) : undefined;
  }

  #imported(text: string, name: string): { readonly from: string; readonly target: string } | undefined {
    for (const [, names = "", target = ""] of text.matchAll(IMPORTED)) {
      const item = items(names).find(({ to }) => to === name);
      if (item !== undefined) return { from: item.from, target };
    }
    return undefined;
  }

  #text(file: string): string {
    const known = this.#texts.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(file, "utf8");
    this.#texts.set(file, text);
    return text;
  }
}
