import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { code, page, table } from "./markdown.ts";
import { fileDoc, type SourceExport, Sources } from "./sources.ts";

const FOLDER = join("src", "library");
/** The main entry first, then the others in the order in which an application meets them. */
const ORDER = ["index", "wire", "crypto", "sdl", "light", "market", "keyring", "gateway", "deploy", "testing"];

/** An entry point of the package with its public names. */
export interface LibraryEntry {
  /** Specifier in an import: `svc`, `svc/sdl`. */
  readonly specifier: string;
  readonly doc: string;
  readonly exports: readonly SourceExport[];
}

/** All entry points; `root` is the folder of the checkout. */
export function libraryEntries(root: string): LibraryEntry[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const sources = new Sources(root);
  const names = readdirSync(join(root, FOLDER))
    .map((file) => file.replace(/\.ts$/, ""))
    .filter((name) => `./${name}` in exports || name === "index");
  return names
    .sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
    .map((name) => {
      const path = join(FOLDER, `${name}.ts`);
      return {
        specifier: name === "index" ? "svc" : `svc/${name}`,
        doc: fileDoc(readFileSync(join(root, path), "utf8")),
        exports: sources.exportsOf(path),
      };
    });
}

/** The page of the library's public names. */
export function libraryPage(root: string): string {
  const intro = "Examples are in the [guide](../guides/library.md); an editor shows the types.";
  const sections = libraryEntries(root).flatMap(({ specifier, doc, exports }) => {
    const about = doc.replace(/^`[^`]*`: (.)/, (_, first: string) => first.toUpperCase());
    return [`## ${specifier}`, about, table(["name", "", ""], exports.flatMap(rows))];
  });
  return page("Library", [intro, ...sections]);
}

function rows({ name, kind, parameters, methods, doc }: SourceExport): (readonly string[])[] {
  const own = [code(kind === "function" ? `${name}(${parameters.join(", ")})` : name), kind, doc];
  return [own, ...methods.map((each) => [code(`${name}.${each.name}(${each.parameters.join(", ")})`), "", each.doc])];
}
