// Turns the chunks of a bundle into packs. A chunk is an ES module, for which Node.js 20 cannot keep V8's code; in a
// pack each becomes a function that takes its imports and returns its exports. A pack is a script whose value holds its
// functions by number.
import { createHash } from "node:crypto";
import { basename, posix } from "node:path";
import { init, parse } from "es-module-lexer";

await init;

const CLAUSE = /^import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s*)?(?:\{([^}]*)\}\s*)?(?:from)?\s*"([^"]+)"$/;

/** Name of a value that is exported without one. */
const DEFAULT = "$default";

/** All chunks as functions: `numberOf` a source or package that has its own chunk, and the code of each number. */
export class Chunks {
  #numbers;
  #entries;
  #code;

  /** `outputs` are esbuild's files, `metafile` tells their origin. */
  constructor({ outputFiles, metafile }, outdir) {
    const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
    this.#numbers = new Map([...texts.keys()].sort().map((name, number) => [name, number]));
    const entries = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint !== undefined);
    this.#entries = new Map(entries.map(([path, { entryPoint }]) => [entryPoint, posix.relative(outdir, path)]));
    this.#code = new Map([...texts].map(([name, text]) => [this.#number(name), this.#wrap(text)]));
  }

  get numbers() {
    return [...this.#code.keys()];
  }

  numberOf(entryPoint) {
    return this.#number(this.#entries.get(entryPoint));
  }

  /** A pack of some chunks; the hash in its name keeps it and V8's code of it together. */
  pack(name, numbers) {
    const members = numbers.map((number) => `${number}:${this.#code.get(number)}`);
    // Packs are read as one byte for each character; the bundler leaves others in regular expressions.
    const escaped = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    const contents = `({${members.join(",\n")}})`.replace(/[^\0-\x7f]/g, escaped);
    const hash = createHash("sha256").update(contents).digest("hex").slice(0, 8);
    return { file: `${name}-${hash}.cjs`, contents, numbers };
  }

  /** Replaces something in the code of all chunks. */
  replace(pattern, by) {
    for (const [number, code] of this.#code) this.#code.set(number, code.replace(pattern, by));
  }

  #number(name) {
    const number = this.#numbers.get(name);
    if (number === undefined) throw new Error(`no chunk ${name}`);
    return number;
  }

  /** `$load` returns the exports of a chunk, `$later` a promise of them. */
  #wrap(text) {
    const [taken] = /\$(?:load(?!\("deferred:)|later)\b/.exec(text) ?? [];
    if (taken !== undefined) throw new Error(`a source uses the name ${taken}, which packs have for themselves`);
    const [imports, exports] = parse(text);
    const head = imports.filter(({ d }) => d === -1).map(({ ss, se }) => this.#binding(text.slice(ss, se)));
    const edits = [...imports.map((each) => this.#edit(each)), ...exportEdits(text, exports)];
    const body = edited(text, edits);
    return `function($load,$later,require,$moduleUrl){${head.join("")}${body}\nreturn{${exports.map(given).join(",")}}}`;
  }

  /**
   * The replacement of an import statement, at the top of the function. It ends with the chunk: chunks do not import in
   * circles.
   */
  #binding(statement) {
    const [, standard, star, named, from] = CLAUSE.exec(statement) ?? [];
    if (from === undefined) throw new Error(`an import in a form of its own: ${statement}`);
    const source = from.startsWith(".") ? `$load(${this.#number(basename(from))})` : `require("${from}")`;
    const names = named === undefined ? undefined : `{${named.replaceAll(/\s+as\s+/g, ":")}}`;
    const bindings = [standard, star, names].filter((each) => each !== undefined);
    return bindings.length === 0 ? `${source};` : bindings.map((each) => `const ${each}=${source};`).join("");
  }

  /** `[start, end, text in its place]` of an import; `d` is -1 unless it is dynamic. Packages that stay outside are CommonJS. */
  #edit({ ss, se, d, n }) {
    if (d === -1) return [ss, se, ""];
    if (d < 0 || n === undefined) throw new Error("an import that only its run decides");
    const value = n.startsWith(".") ? `$later(${this.#number(basename(n))})` : `(async()=>require("${n}"))()`;
    return [ss, se, value];
  }
}

function edited(text, edits) {
  return edits
    .toSorted(([a], [b]) => b - a)
    .reduce((all, [start, end, place]) => all.slice(0, start) + place + all.slice(end), text);
}

/** A CommonJS package that is loaded on demand has a value without a name as its only export. */
function isDefault({ n, ln }) {
  return n === "default" && ln === undefined;
}

/** A member of what a chunk returns. The parts of a CommonJS package are members too, as `import()` of Node.js has it. */
function given(member) {
  if (isDefault(member)) return `...${DEFAULT},default:${DEFAULT}`;
  return member.n === member.ln ? member.n : `${member.n}:${member.ln}`;
}

/** The bundler writes one export statement, which goes. */
function exportEdits(text, exports) {
  const [first, last] = [exports.at(0), exports.at(-1)];
  if (first === undefined) return [];
  if (isDefault(first)) return [[first.ss, first.e, `const ${DEFAULT}=`]];
  const statement = /^export\s*\{[^}]*\};?/.exec(text.slice(first.ss))?.[0] ?? "";
  if (first.ss + statement.length < last.e) throw new Error("exports in a form of their own");
  return [[first.ss, first.ss + statement.length, ""]];
}
