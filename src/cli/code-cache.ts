import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";

/** A part of the program: it receives its imports and returns its exports. */
type Chunk = (
  load: (chunk: number) => object,
  later: (chunk: number) => Promise<object>,
  require: NodeJS.Require,
  moduleUrl: string,
) => object;

/** A file of the program with some of its chunks. */
export interface Pack {
  readonly file: string;
  readonly chunks: readonly number[];
}

/** Where the program is, and access to packages, which V8's code cannot resolve. */
export interface PackOptions {
  readonly folder: string;
  readonly require: NodeJS.Require;
}

/** Where the build puts V8's code for a file. */
export function codeCachePath(path: string): string {
  return `${path}.cache`;
}

/** The built program: chunks, which are evaluated on demand, in packs, which are read at the same time. */
export class Packs {
  readonly #packs: readonly Pack[];
  readonly #options: PackOptions;
  readonly #moduleUrl: string;
  readonly #exports = new Map<number, object>();
  readonly #chunks = new Map<Pack, Readonly<Record<number, Chunk>>>();
  /** Compiled scripts, by file. */
  readonly scripts = new Map<string, Script>();

  constructor(packs: readonly Pack[], options: PackOptions) {
    this.#packs = packs;
    this.#options = options;
    this.#moduleUrl = pathToFileURL(join(options.folder, "svc.cjs")).href;
  }

  /** The chunks that were evaluated. */
  get loaded(): number[] {
    return [...this.#exports.keys()];
  }

  /** Exports of a chunk. */
  readonly load = (chunk: number): object => {
    const known = this.#exports.get(chunk);
    if (known !== undefined) return known;
    const run = this.#chunk(chunk);
    const exports = run(this.load, async (other) => this.load(other), this.#options.require, this.#moduleUrl);
    this.#exports.set(chunk, exports);
    return exports;
  };

  #chunk(chunk: number): Chunk {
    const pack = this.#packs.find(({ chunks }) => chunks.includes(chunk));
    const run = pack === undefined ? undefined : this.open(pack)[chunk];
    if (run === undefined) throw new Error(`part ${chunk} of the program is missing: build again`);
    return run;
  }

  /** The chunks of a pack, read at first use. */
  open(pack: Pack): Readonly<Record<number, Chunk>> {
    const known = this.#chunks.get(pack);
    if (known !== undefined) return known;
    const path = join(this.#options.folder, pack.file);
    const script = compileCached(path);
    const chunks: Readonly<Record<number, Chunk>> = script.runInThisContext();
    this.scripts.set(path, script);
    this.#chunks.set(pack, chunks);
    return chunks;
  }
}

/** The script of a file. It is not compiled again if V8's code beside it was made by this version of Node.js. */
function compileCached(path: string): Script {
  const cachedData = contentOf(codeCachePath(path));
  return new Script(readFileSync(path, "latin1"), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
