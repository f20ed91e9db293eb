import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const STATEMENT = /^(import|export) (type )?\{([^}]*)\} from "(\.[^"]*\/index\.js)";$/gm;
const WHOLE = /^(?:import|export) (?:type )?\*.* from "\.[^"]*\/index\.js";$/m;
const STAR = /^export (?:type )?\* from "(\.[^"]+)";$/gm;
const NAMED = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;$/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;

/**
 * The file that makes each thing that the door (`index.js`) of a folder exports. Works on compiled modules and their
 * types.
 */
export class Doors {
  #folder;
  #known = new Map();

  constructor(folder) {
    this.#folder = folder;
  }

  /** The text of a file with every import through a door replaced by imports from where the things are made. */
  opened(name, text) {
    const ending = name.endsWith(".d.ts") ? ".d.ts" : ".js";
    // A door may export again by stars: only the doors above it read it, and imports bypass them.
    if (name.endsWith(`/index${ending}`) && !name.startsWith("library/")) return text;
    const whole = WHOLE.exec(text);
    if (whole !== null) throw new Error(`${name}: name what is taken: ${whole[0]}`);
    return text.replace(STATEMENT, (_, word, type = "", names, target) => {
      const door = join(dirname(name), target).replace(/\.js$/, ending);
      return this.#direct(items(names), { word, type, door, name, ending });
    });
  }

  #direct(list, { word, type, door, name, ending }) {
    const byFile = new Map();
    for (const { isType, from, to } of list) {
      const origin = this.#originOf(door, from);
      if (origin === undefined) throw new Error(`${name}: ${door} does not export ${from}`);
      const what = `${isType ? "type " : ""}${origin.name === to ? to : `${origin.name} as ${to}`}`;
      byFile.set(origin.file, [...(byFile.get(origin.file) ?? []), what]);
    }
    const lines = [...byFile].map(([file, names]) => {
      const path = relative(dirname(name), file).slice(0, -ending.length);
      const specifier = `${path.startsWith(".") ? "" : "./"}${path}.js`;
      return `${word} ${type}{ ${names.join(", ")} } from "${specifier}";`;
    });
    return lines.join("\n");
  }

  /** The file that declares an exported name, and the name there. */
  #originOf(file, name) {
    const { own, renamed, stars } = this.#exportsOf(file);
    const elsewhere = renamed.get(name);
    if (elsewhere !== undefined) return this.#originOf(elsewhere.file, elsewhere.name) ?? elsewhere;
    if (own.has(name)) return { file, name };
    for (const star of stars) {
      const found = this.#originOf(star, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #exportsOf(file) {
    const known = this.#known.get(file);
    if (known !== undefined) return known;
    const found = { own: new Set(), renamed: new Map(), stars: [] };
    this.#known.set(file, found);
    const path = join(this.#folder, file);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const ending = file.endsWith(".d.ts") ? ".d.ts" : ".js";
    const targetOf = (specifier) => join(dirname(file), specifier).replace(/\.js$/, ending);
    for (const [, name] of text.matchAll(DECLARATION)) found.own.add(name);
    for (const [, specifier] of text.matchAll(STAR)) found.stars.push(targetOf(specifier));
    for (const [, names, specifier] of text.matchAll(NAMED)) {
      for (const { from, to } of items(names)) {
        if (specifier?.startsWith(".")) found.renamed.set(to, { file: targetOf(specifier), name: from });
        else found.own.add(to);
      }
    }
    return found;
  }
}

function items(names) {
  return names
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => {
      const [, type, from, to = from] = /^(type )?([\w$]+)(?: as ([\w$]+))?$/.exec(text) ?? [];
      return { isType: type !== undefined, from, to };
    });
}
