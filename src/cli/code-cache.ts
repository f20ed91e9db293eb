import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";

type CommonJs = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
  load: (name: string) => Promise<object>,
) => void;

/** Where the build puts V8's code for a file. */
export function codeCachePath(path: string): string {
  return `${path}.cache`;
}

/**
 * The script of a file that the build wrapped as a function of a CommonJS module. It is not compiled again where V8's code
 * beside it is of this Node.js; elsewhere the code is left aside and it only takes longer.
 */
export function compileCached(path: string): Script {
  const cachedData = contentOf(codeCachePath(path));
  return new Script(readFileSync(path, "latin1"), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
}

/** Evaluates such a script; returns what the module exports. It imports packages through us: V8's code by itself cannot. */
export function evaluate(script: Script, path: string): object {
  const module = { exports: {} };
  const wrapped: CommonJs = script.runInThisContext();
  wrapped(module.exports, createRequire(path), module, path, dirname(path), (name) => import(name));
  return module.exports;
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
