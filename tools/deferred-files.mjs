// A bundle would build the descriptors of all messages at every start. In src/wire/proto-files.ts each is already
// behind a function; here its import moves into that function too, as the chunk that holds the file.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const IMPORT = /^import \{([^}]*)\} from "([^"]+)";$/gm;
const GETTER = /\(\) => (file_\w+)/g;
const WELL_KNOWN = "@bufbuild/protobuf/wkt";

/** Where a generated file is, as an entry point of the bundle. */
function sourceOf(from, name, folder) {
  if (from !== WELL_KNOWN) return join(folder, from);
  const proto = name.replace(/^file_/, "").replaceAll("_", "/");
  return `node_modules/@bufbuild/protobuf/dist/esm/wkt/${proto}_pb.js`;
}

/** The generated files, each with its name, as entry points. */
export function protoFiles(root) {
  const list = join(root, "src", "wire", "proto-files.ts");
  const found = [];
  for (const [, names, from] of readFileSync(list, "utf8").matchAll(IMPORT)) {
    for (const name of names.split(",").map((each) => each.trim())) {
      if (name.startsWith("file_")) found.push({ name, source: sourceOf(from, name, relative(root, dirname(list))) });
    }
  }
  return found;
}

/** The placeholder for the chunk of a generated file until the chunks have numbers. */
export const DEFERRED = /"deferred:([^"]+)"/g;

/** esbuild plugin: generated files are evaluated on demand. */
export function deferredFiles(files) {
  const sources = new Map(files.map(({ name, source }) => [name, source]));
  return {
    name: "deferred-files",
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]wire[\\/]proto-files\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, "utf8").replace(IMPORT, (line) => (line.includes("import type") ? line : ""));
        const contents = text.replace(GETTER, (_, name) => `() => $load("deferred:${sources.get(name)}").${name}`);
        return { contents, loader: "ts" };
      });
    },
  };
}
