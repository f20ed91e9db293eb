// Counts of the source tree that `npm run measures` prints and `test/tidy.test.ts` holds.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import {
  isAsExpression,
  isFunctionLikeDeclaration,
  isPropertyAccessExpression,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";
import { cycles } from "../../test/support/import-graph.ts";

/** Pages of the console know a browser, and all other code knows Node.js. */
const PROJECTS = ["tsconfig.json", "src/console/tsconfig.json"];
const MOST_FILE_LINES = 400;
const MOST_FUNCTION_LINES = 70;
const MOST_SMALL_LINES = 60;
/** Folders whose rooms have a bound of their own. */
const IN_ROOMS = ["src/cli", "src/modules", "src/node", "src/provider"];
/** Bounds of lines are multiples of the step, with room for small changes. */
const STEP = 100;
const ROOM = 50;

export const TITLES = {
  privateParts: "uses of private parts of Node.js or packages: `value._name`",
  smallFiles: `files of up to ${MOST_SMALL_LINES} lines with one importer, which lies in the same folder`,
  longFunctions: `functions over ${MOST_FUNCTION_LINES} lines`,
  longFiles: `files over ${MOST_FILE_LINES} lines`,
  casts: "`as` casts, without `as const`",
  circles: "import circles of files, with imports that wait until they are needed",
};

export type Count = keyof typeof TITLES;

/** Bounds of counts, and of lines by folder. */
export interface Bounds {
  readonly counts: Readonly<Record<Count, number>>;
  readonly lines: Readonly<Record<string, number>>;
}

export interface Measures {
  readonly places: Readonly<Record<Count, readonly string[]>>;
  /** Lines by folder of `src`, or by room in the folders of `IN_ROOMS`. */
  readonly lines: ReadonlyMap<string, number>;
}

/** A hand-written file: TypeScript below `src` that is neither generated nor a test. All of its lines count. */
interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
  /** Places by the count that they belong to. */
  readonly found: readonly (readonly [Count, string])[];
}

export function measure(root: string): Measures {
  const sources = readSources(root);
  const places: Record<Count, string[]> = {
    privateParts: [],
    smallFiles: smallFiles(sources),
    longFunctions: [],
    longFiles: sources.filter(({ lines }) => lines > MOST_FILE_LINES).map(({ path }) => path),
    casts: [],
    circles: cycles(new Map(sources.map(({ path, imports }) => [path, imports]))).map((files) => files.join(" ")),
  };
  for (const [count, place] of sources.flatMap(({ found }) => found)) places[count].push(place);
  const lines = new Map<string, number>();
  for (const source of sources) {
    const folder = folderOf(source.path);
    lines.set(folder, (lines.get(folder) ?? 0) + source.lines);
  }
  return { places, lines };
}

/** Measures that are higher than their bounds, with the remedy; folders without a bound are free to grow. */
export function overBounds({ places, lines }: Measures, bounds: Bounds): string[] {
  const counts = names(bounds.counts).flatMap((name) =>
    places[name].length > bounds.counts[name]
      ? [`${TITLES[name]}: ${places[name].length}, at most ${bounds.counts[name]} (npm run measures -- --places)`]
      : [],
  );
  const folders = Object.entries(bounds.lines).flatMap(([folder, most]) => {
    const now = lines.get(folder) ?? 0;
    return now > most
      ? [`${folder} has ${now} lines, at most ${most}: make it smaller, or raise its bound and say why`]
      : [];
  });
  return [...counts, ...folders];
}

/** The lowest bounds for the measures, and no higher than the bounds before. */
export function tightened({ places, lines }: Measures, before: Bounds): Bounds {
  const counts = { ...before.counts };
  for (const name of names(counts)) counts[name] = Math.min(counts[name], places[name].length);
  const folders = [...lines].sort(([one], [other]) => (one < other ? -1 : 1));
  const bound = (folder: string, now: number): number =>
    Math.min(before.lines[folder] ?? Number.POSITIVE_INFINITY, Math.ceil((now + ROOM) / STEP) * STEP);
  return { counts, lines: Object.fromEntries(folders.map(([folder, now]) => [folder, bound(folder, now)])) };
}

function readSources(root: string): Source[] {
  const api = new API({ cwd: root });
  try {
    const configs = PROJECTS.map((name) => join(root, name));
    const snapshot = api.updateSnapshot({ openProjects: configs });
    const projects = configs.map((config) => {
      const project = snapshot.getProject(config);
      if (project === undefined) throw new Error(`${config} is no project of TypeScript`);
      return project;
    });
    const treeOf = (path: string): SourceFile | undefined =>
      projects.map(({ program }) => program.getSourceFile(join(root, path))).find((tree) => tree !== undefined);
    return filesBelow(root, "src").flatMap((path) => {
      const tree = isApart(path) ? undefined : treeOf(path);
      return tree === undefined ? [] : [sourceOf(root, path, tree)];
    });
  } finally {
    api.close();
  }
}

/** Lines of tests: beside the source, and everything in `test`. */
export function testLines(root: string): number {
  const files = [...filesBelow(root, "src").filter((path) => path.endsWith(".test.ts")), ...filesBelow(root, "test")];
  return files.reduce((sum, path) => sum + readFileSync(join(root, path), "utf8").split("\n").length - 1, 0);
}

function isApart(path: string): boolean {
  return path.startsWith("src/wire/gen/") || path.endsWith(".test.ts");
}

function filesBelow(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /\.tsx?$/.test(name));
  return files.map((name) => join(folder, name)).sort();
}

function sourceOf(root: string, path: string, tree: SourceFile): Source {
  const found: [Count, string][] = [];
  const visit = (node: Node): void => {
    const count = countOf(node, tree);
    if (count !== undefined) found.push([count, `${path}:${lineOf(tree, node.getStart(tree)) + 1}`]);
    node.forEachChild(visit);
  };
  visit(tree);
  const targets = [...tree.text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)];
  return {
    path,
    lines: lineOf(tree, tree.end),
    imports: targets.map(([, target = ""]) => relative(root, resolve(root, dirname(path), target))),
    found,
  };
}

function countOf(node: Node, tree: SourceFile): Count | undefined {
  if (isAsExpression(node)) return node.type.getText(tree) === "const" ? undefined : "casts";
  if (isPropertyAccessExpression(node)) {
    const isOwn = node.expression.kind === SyntaxKind.ThisKeyword;
    return node.name.text.startsWith("_") && !isOwn ? "privateParts" : undefined;
  }
  if (!isFunctionLikeDeclaration(node)) return undefined;
  const lines = lineOf(tree, node.end) - lineOf(tree, node.getStart(tree)) + 1;
  return lines > MOST_FUNCTION_LINES ? "longFunctions" : undefined;
}

function lineOf(tree: SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line;
}

function smallFiles(sources: readonly Source[]): string[] {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources) {
    for (const target of new Set(imports)) importers.set(target, [...(importers.get(target) ?? []), path]);
  }
  return sources
    .filter(({ path, lines }) => {
      const [only = "", ...others] = importers.get(path) ?? [];
      return lines <= MOST_SMALL_LINES && others.length === 0 && dirname(only) === dirname(path);
    })
    .map(({ path }) => path);
}

/** `src/x`, or `src/node/x` in a folder that is measured by rooms. */
function folderOf(path: string): string {
  const folders = dirname(path).split("/");
  const outer = folders.slice(0, 2).join("/");
  return IN_ROOMS.includes(outer) ? folders.slice(0, 3).join("/") : outer;
}

export function names(counts: Readonly<Record<Count, unknown>>): Count[] {
  return Object.keys(counts).filter((name): name is Count => name in TITLES);
}
