import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";

/** One file of a folder, ready to be served. */
export interface StaticFile {
  readonly type: string;
  readonly contents: Buffer;
  /** The same, compressed by the build of the folder. */
  readonly gzip: Buffer | undefined;
  /** Name with a hash of the contents in it, which therefore never change. */
  readonly isHashed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};
const OTHER_TYPE = "application/octet-stream";
/** Subfolder of files whose names hold a hash. */
const HASHED = "assets/";
const INDEX = "index.html";

/**
 * The files of a folder for a web server: all are read at the first request, and a path is looked up among them, so that no request
 * reaches another file. Names that begin with a dot are not served; `x.gz` is the compressed form of the `x` beside it.
 */
export class StaticFiles {
  readonly folder: string;
  #files: ReadonlyMap<string, StaticFile> | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Whether the folder has been built. */
  get isBuilt(): boolean {
    return this.#read().has(INDEX);
  }

  /** The file of a path relative to the folder, which is not decoded; the folder itself shows its index. */
  find(path: string): StaticFile | undefined {
    return this.#read().get(path === "" ? INDEX : path);
  }

  /** A folder without an index is read again: its build may come. */
  #read(): ReadonlyMap<string, StaticFile> {
    if (this.#files !== undefined) return this.#files;
    const files = existsSync(join(this.folder, INDEX)) ? readFolder(this.folder) : new Map<string, StaticFile>();
    if (files.has(INDEX)) this.#files = files;
    return files;
  }
}

function readFolder(folder: string): ReadonlyMap<string, StaticFile> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const known = new Set(paths);
  const served = paths.filter((path) => !/(?:^|\/)\.|\.gz$|\.tmp$/.test(path));
  return new Map(
    served.map((path) => {
      const gzip = known.has(`${path}.gz`) ? readFileSync(join(folder, `${path}.gz`)) : undefined;
      const contents = readFileSync(join(folder, path));
      return [path, { type: TYPES[extname(path)] ?? OTHER_TYPE, contents, gzip, isHashed: path.startsWith(HASHED) }];
    }),
  );
}

/** Headers and body of a file for a client that accepts these encodings. */
export function fileAnswer(
  { type, contents, gzip, isHashed }: StaticFile,
  acceptEncoding: string | undefined,
): { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> } {
  const isPacked = gzip !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(acceptEncoding ?? "");
  return {
    body: isPacked ? gzip : contents,
    headers: {
      "Content-Type": type,
      "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
      ...(gzip === undefined ? {} : { Vary: "Accept-Encoding" }),
      ...(isPacked ? { "Content-Encoding": "gzip" } : {}),
    },
  };
}

/**
 * Headers of pages that load their own scripts, styles and images alone, stand in no frame of others, and connect to `connect`.
 */
export function pageHeaders(connect: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    `connect-src ${connect}`,
    "require-trusted-types-for 'script'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  };
}

/** Path of the frame of the console's terminal. */
export const TERMINAL_PAGE = "/console/terminal.html";

/**
 * Headers of a document that stands in a frame of the pages and has no origin: it loads nothing, connects to nothing, and reaches nothing of
 * them, also when it is opened by itself. Its scripts are in the document, which names them by their hashes.
 */
export const FRAME_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'none'; frame-ancestors 'self'; " +
    "base-uri 'none'; form-action 'none'; sandbox allow-scripts",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
