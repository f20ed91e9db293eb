// Every folder of the sources has one door, index.ts. A bundle that is split into chunks would load everything behind a
// door as soon as one thing is imported through it, so the bundler sees imports from the files where things are made.
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

const IMPORT = /^import \{([^}]*)\} from "([^"]+\/index\.ts)";$/gm;
const REEXPORT = /^export (type )?(\*|\{([^}]*)\}) from "([^"]+)";$/gm;
const DECLARATION = /^export (?:async )?(?:function\*?|const|let|class|abstract class) ([A-Za-z_$][\w$]*)/gm;
const NAMED = /^export \{([^}]*)\};$/gm;

/** esbuild plugin: `import { a } from "../x/index.ts"` becomes an import from the file that declares `a`. */
export const directImports = {
  name: "direct-imports",
  setup(build) {
    const doors = new Map();
    build.onLoad({ filter: /[\\/]src[\\/].*\.tsx?$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      return {
        contents: text.replace(IMPORT, (line, names, door) => rewrite(line, { names, door, path, doors })),
        loader: path.endsWith("x") ? "tsx" : "ts",
      };
    });
  },
};

function rewrite(line, { names, door, path, doors }) {
  const origins = exportsOf(resolve(dirname(path), door), doors);
  const lines = [];
  for (const item of items(names)) {
    if (item.isType) continue;
    const origin = origins.get(item.name);
    if (origin === undefined) return line;
    const from = relative(dirname(path), origin.file).replaceAll("\\", "/");
    const target = from.startsWith(".") ? from : `./${from}`;
    lines.push(`import { ${origin.name} as ${item.alias} } from "${target}";`);
  }
  // On one line, so that positions in stack traces stay right.
  return lines.join(" ") + "\n".repeat(line.split("\n").length - 1);
}

/** Where each value that a file exports is declared. */
function exportsOf(file, known) {
  const found = known.get(file);
  if (found !== undefined) return found;
  const origins = new Map();
  known.set(file, origins);
  if (!existsSync(file)) return origins;
  const text = readFileSync(file, "utf8");
  for (const [, name] of text.matchAll(DECLARATION)) origins.set(name, { file, name });
  for (const [, names] of text.matchAll(NAMED)) {
    for (const { isType, alias } of items(names)) if (!isType) origins.set(alias, { file, name: alias });
  }
  for (const [, isType, what, names, target] of text.matchAll(REEXPORT)) {
    if (isType || !target.startsWith(".")) continue;
    const inner = exportsOf(resolve(dirname(file), target), known);
    const wanted = what === "*" ? [...inner.keys()].map((name) => ({ name, alias: name })) : items(names);
    for (const item of wanted) {
      const origin = item.isType
        ? undefined
        : (inner.get(item.name) ?? { file: resolve(dirname(file), target), name: item.name });
      if (origin !== undefined) origins.set(item.alias, origin);
    }
  }
  return origins;
}

function items(names) {
  return names
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => {
      const [, type, name, alias = name] = /^(type )?([\w$]+)(?: as ([\w$]+))?$/.exec(text) ?? [];
      return { isType: type !== undefined, name, alias };
    });
}
