import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TARGET = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** The files of a folder to which some files lead by relative imports, these files included. */
export function reachable(folder, roots) {
  const seen = new Set();
  const queue = [...roots];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue;
    const path = join(folder, name);
    if (!existsSync(path)) throw new Error(`${name} is imported, but was not made`);
    seen.add(name);
    const ending = name.endsWith(".d.ts") ? ".d.ts" : ".js";
    for (const [, target = ""] of readFileSync(path, "utf8").matchAll(TARGET)) {
      queue.push(join(dirname(name), target).replace(/\.js$/, ending));
    }
  }
  return seen;
}
