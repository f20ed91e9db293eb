import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { standardModules } from "../src/app/index.ts";
import { CLUSTER_KINDS } from "../src/provider/cluster/kinds.ts";
import { allServices, CHAIN_ERRORS, findService } from "../src/wire/index.ts";
import { measure, overBounds } from "../tools/measures/tree.ts";
import bounds from "./measures.json" with { type: "json" };
import { cycles, foldersOf, type ImportGraph, rooms } from "./support/import-graph.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

/** Allowed imports of each folder, besides its own and those of the named folders (ARCHITECTURE.md). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  util: [],
  crypto: ["util"],
  wire: ["crypto"],
  sdl: ["wire"],
  store: ["wire"],
  abci: ["store"],
  runtime: ["abci"],
  modules: ["runtime", "sdl"],
  app: ["modules"],
  engine: ["abci", "crypto"],
  node: ["engine", "app", "client"],
  light: ["wire"],
  client: ["sdl", "wire", "light"],
  keyring: ["crypto", "wire"],
  certs: ["client", "keyring"],
  tenant: ["client", "sdl", "certs"],
  console: ["tenant"],
  provider: ["client", "keyring", "sdl"],
  cli: ["node", "provider", "tenant", "certs", "client", "keyring", "sdl", "app"],
  testing: ["node", "provider", "client", "keyring", "sdl", "app"],
  library: ["testing", "tenant"],
};

/** Folders whose code decides the state of the chain: nothing in them may depend on the machine or the moment. */
const CONSENSUS = ["abci", "runtime", "modules", "app"];
const BANNED_IN_CONSENSUS = [
  /\bDate\b/,
  /\bMath\.random\b/,
  /\bsetTimeout\b/,
  /\bprocess\./,
  /\bfetch\(/,
  /from "node:(fs|net|http|https|os|child_process)"/,
  /\bparseFloat\b/,
];

/**
 * Second doors: for code that runs on Node.js, where the first door's code also runs in browsers, and for servers, whose
 * libraries short commands should not load.
 */
const SECOND_DOORS = ["src/tenant/node/index.ts", "src/util/servers/index.ts", "src/wire/reflection/index.ts"];

/**
 * Folders that run in browsers as they are; what they need of Node.js stands in `util` and `crypto` behind variants.
 */
const FOR_PAGES = ["wire", "sdl", "light", "console"];

/** Folders that read what the chain answers. */
const CLIENTS = ["client", "provider", "cli", "tenant", "certs", "library"];

/** Rooms of generated files. */
const UNNAMED_ROOMS = ["gen"];

/** Files in a folder beside its rooms. */
const MAX_LOOSE_FILES = 12;

/** Modules that have no messages, or nothing to ask for. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  escrow: ["msgs.ts"],
  auth: ["msgs.ts"],
  vesting: ["queries.ts"],
  genutil: ["msgs.ts", "queries.ts"],
};

const MAX_FILE_LINES = 700;

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly folder: string;
  readonly isTest: boolean;
}

function walk(dir: string): string[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) return path === join(SRC, "wire", "gen") ? [] : walk(path);
    return /\.tsx?$/.test(path) ? [path] : [];
  });
}

const files: SourceFile[] = walk(SRC).map((path) => ({
  path: relative(ROOT, path),
  text: readFileSync(path, "utf8"),
  folder: relative(SRC, path).split("/")[0] ?? "",
  isTest: path.endsWith(".test.ts"),
}));

function reachable(folder: string): Set<string> {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of MAY_IMPORT[name] ?? []) visit(next);
  };
  visit(folder);
  return seen;
}

/** Relative imports of a file, as paths from the repository's root. */
function imports(file: SourceFile): string[] {
  const found = file.text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, target = ""]) => relative(ROOT, resolve(ROOT, dirname(file.path), target)));
}

/** Imports that stand at the head of a file, of types too: not those that are made when they are needed. */
function headImports(file: SourceFile): string[] {
  return imports({ ...file, text: file.text.replaceAll(/\bimport\(/g, "") });
}

function graphOf(importsOf: (file: SourceFile) => readonly string[]): ImportGraph {
  return new Map(files.filter(({ isTest }) => !isTest).map((file) => [file.path, new Set(importsOf(file))]));
}

/** The folder behind whose door a path stands: `src/x`, or `src/modules/x`. */
function doorOf(path: string): string {
  const [, folder = "", second = ""] = path.split("/");
  return folder === "modules" ? `src/modules/${second}` : `src/${folder}`;
}

function importFaults(file: SourceFile): string[] {
  const allowed = reachable(file.folder);
  return imports(file).flatMap((target) => {
    const [top, folder = ""] = target.split("/");
    if (top !== "src" || doorOf(target) === doorOf(file.path)) return [];
    if (!allowed.has(folder)) return [`${file.path} imports ${target}: ${file.folder}/ may not import ${folder}/`];
    if (target === `${doorOf(target)}/index.ts` || target.startsWith("src/wire/gen/")) return [];
    if (SECOND_DOORS.includes(target)) return [];
    return [`${file.path} imports ${target}: outsiders use ${doorOf(target)}/index.ts`];
  });
}

/** Rooms of the provider, each with a door; a room may hold others. */
const PROVIDER = "src/provider";
const CLUSTER = `${PROVIDER}/cluster`;
/** The one file that names a cluster driver. */
const DRIVER_LIST = `${CLUSTER}/kinds.ts`;
const MAX_ROOM_FILES = 12;

const provider = files.filter(({ path, isTest }) => !isTest && path.startsWith(`${PROVIDER}/`));

/** The outermost room around the target that the file is not in itself. */
function roomBetween(path: string, target: string): string | undefined {
  const inside = (folder: string, each: string): string | undefined => {
    const rest = each.startsWith(`${folder}/`) ? each.slice(folder.length + 1).split("/") : [];
    return rest.length > 1 ? `${folder}/${rest[0]}` : undefined;
  };
  return [PROVIDER, CLUSTER]
    .map((folder) => inside(folder, target))
    .find((room) => room !== undefined && !path.startsWith(`${room}/`));
}

/** A file without what it hands on: a door does not use a name, unless it is the library's. */
function ownWords({ folder, text }: SourceFile): string {
  return folder === "library" ? text : text.replaceAll(/export (?:type )?\{[^}]*\} from/g, "");
}

describe("the source tree", () => {
  it("has a row in the import table for every folder", () => {
    const folders = [...new Set(files.map((file) => file.folder))].sort();
    expect(folders.filter((folder) => MAY_IMPORT[folder] === undefined)).toEqual([]);
  });

  it("has every room on the page of the architecture", () => {
    const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n");
    const roomsIn = (folder: string): string[] =>
      readdirSync(join(SRC, folder)).filter((name) => statSync(join(SRC, folder, name)).isDirectory());
    // Modules say what they are themselves, and the command line has a room for each group of its commands.
    const folders = Object.keys(MAY_IMPORT).filter((folder) => folder !== "modules" && folder !== "cli");
    const missing = folders.flatMap((folder) => {
      const row = page.find((line) => line.startsWith(`| \`src/${folder}/`)) ?? "";
      const unnamed = roomsIn(folder).filter((room) => !UNNAMED_ROOMS.includes(room) && !row.includes(`\`${room}/\``));
      return unnamed.map((room) => `src/${folder}/${room}`);
    });
    expect(missing).toEqual([]);
  });

  it("imports only downwards and through doors", () => {
    expect(files.filter((file) => !file.isTest).flatMap(importFaults)).toEqual([]);
  });

  it("keeps Node.js out of the workflow of a deployment", () => {
    const faults = files
      .filter(({ path, folder, isTest }) => folder === "tenant" && !isTest && !path.startsWith("src/tenant/node/"))
      .flatMap((file) =>
        [...imports(file), ...(file.text.match(/"node:[^"]+"/g) ?? [])].map((from) => [file.path, from]),
      )
      .filter(([, from = ""]) => from.startsWith('"node:') || /^src\/(certs|tenant\/node)\//.test(from));
    expect(faults).toEqual([]);
  });

  it("reads the marketplace in one place", () => {
    const faults = files
      .filter(({ folder, isTest }) => !isTest && ["tenant", "provider", "certs"].includes(folder))
      .filter(({ text }) => /\bQuery\b[^}]*\} from "[^"]*\/gen\/svc\/|\bNOT_FOUND_ERRORS\b|\bqueryFault\b/.test(text));
    expect(faults.map(({ path }) => `${path}: asks through marketReader of client`)).toEqual([]);
  });

  it("has no files that import each other in a circle", () => {
    expect(cycles(graphOf(headImports))).toEqual([]);
  });

  it("has no rooms of one folder that import each other in a circle", () => {
    const graph = graphOf(imports);
    const circles = foldersOf(graph.keys()).flatMap((folder) =>
      cycles(rooms(folder, graph)).map((names) => `${folder}: ${names.join(", ")}`),
    );
    expect(circles).toEqual([]);
  });

  it("shows other modules what they may do with a keeper, not the keeper", () => {
    const faults = files
      .filter(({ path, isTest }) => path.startsWith("src/modules/") && !isTest)
      .flatMap(({ path, text }) => {
        const others = [...text.matchAll(/import (?:type )?\{([^}]*)\} from "(\.\.\/\w+\/index\.ts)"/g)];
        const keepers = others.flatMap(([, names = "", from]) => (/Keeper\b/.test(names) ? [from] : []));
        return keepers.map((from) => `${path} takes a keeper of ${from}: let that module export the few functions`);
      });
    expect(faults).toEqual([]);
  });

  it("names the engine inside only where a node is put together", () => {
    const engines = ["engines", "follow"].map((name) => `src/node/engines/${name}.ts`);
    const composition = ["src/engine/index.ts", "src/node/node.ts", ...engines];
    const faults = files
      .filter(({ path, isTest }) => !isTest && !path.startsWith("src/engine/embedded/") && !composition.includes(path))
      .filter(({ text }) => /\bEmbeddedEngine\b/.test(text))
      .map(({ path }) => `${path}: servers take a ChainSource`);
    expect(faults).toEqual([]);
  });

  it("lets engines know of applications by their contract alone", () => {
    const faults = files
      .filter(({ folder, isTest }) => folder === "engine" && !isTest)
      .filter((file) => imports(file).some((target) => /^src\/(app|modules|runtime)\//.test(target)))
      .map(({ path }) => path);
    expect(faults).toEqual([]);
  });

  it("gives a folder rooms before it is crowded", () => {
    const counts = new Map<string, number>();
    for (const { path, isTest } of files) {
      if (!isTest) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > MAX_LOOSE_FILES)).toEqual([]);
  });

  it("keeps the moment and the machine out of consensus code", () => {
    const faults = files
      .filter((file) => CONSENSUS.includes(file.folder) && !file.isTest)
      .flatMap((file) =>
        BANNED_IN_CONSENSUS.filter((banned) => banned.test(file.text)).map((b) => `${file.path}: ${b}`),
      );
    expect(faults).toEqual([]);
  });

  it("keeps files short and free of loose ends", () => {
    const long = files.filter((file) => file.text.split("\n").length > MAX_FILE_LINES).map((file) => file.path);
    const loose = files.filter((file) => /\b(TODO|FIXME|XXX)\b/.test(file.text)).map((file) => file.path);
    expect([...long, ...loose]).toEqual([]);
  });

  it("has no more lines, casts, small and long files than its bounds in test/measures.json", () => {
    const measures = measure(ROOT);
    expect(overBounds(measures, bounds)).toEqual([]);
    const casts = measures.places.casts.length - 1;
    const faults = overBounds(measures, { counts: { ...bounds.counts, casts }, lines: { "src/util": 1 } });
    expect(faults).toEqual([
      `\`as\` casts, without \`as const\`: ${casts + 1}, at most ${casts} (npm run measures -- --places)`,
      expect.stringMatching(/^src\/util has \d+ lines, at most 1: make it smaller, or raise its bound and say why$/),
    ]);
  });

  it("exports nothing that nobody names", () => {
    const tests = walk(join(ROOT, "test")).map((path) => readFileSync(path, "utf8"));
    // Its lines make modules of what they name.
    const lists = files.filter(({ path }) => path === "src/app/modules.ts").map(({ text }) => text);
    const counts = new Map<string, number>();
    for (const word of [...files.map(ownWords), ...tests, ...lists].flatMap((text) => text.match(/\w+/g) ?? [])) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const unused = files.flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)]
        .filter(([, name = ""]) => counts.get(name) === 1)
        .map(([, name]) => `${path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  it("gives every module the same files", () => {
    const modules = readdirSync(join(SRC, "modules")).filter((name) =>
      statSync(join(SRC, "modules", name)).isDirectory(),
    );
    const missing = modules.flatMap((name) => {
      const present = readdirSync(join(SRC, "modules", name));
      return ["index.ts", "keeper.ts", "msgs.ts", "queries.ts", "README.md"]
        .filter((file) => !present.includes(file) && WITHOUT[name]?.includes(file) !== true)
        .map((file) => `src/modules/${name}/${file} is missing`);
    });
    expect(missing).toEqual([]);
  });

  it("spreads no list into the arguments of a call that takes them one by one", () => {
    const spread = /\.(?:push|unshift)\((?:[^(){}]*, *)?\.\.\.|\bMath\.(?:min|max)\((?:[^(){}]*, *)?\.\.\./;
    const faults = files
      .filter(({ isTest }) => !isTest)
      .flatMap(({ path, text }) =>
        text.split("\n").flatMap((line, i) => (spread.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
      );
    expect(faults, "a list of some hundred thousand ends the call: use append, prepend, largest or smallest").toEqual(
      [],
    );
  });

  it("keeps what pages use free of what browsers lack", () => {
    const faults = files
      .filter(({ folder, path, isTest }) => !isTest && FOR_PAGES.includes(folder) && !path.endsWith(".browser.ts"))
      .flatMap(({ path, text }) => (/\bBuffer\.\w+\(|\bprocess\./.test(text) ? [path] : []));
    expect(faults).toEqual([]);
  });

  it("has every module in the list of the application, and its services among the registered ones", () => {
    const { modules } = standardModules();
    const names = readdirSync(join(SRC, "modules")).filter((name) =>
      statSync(join(SRC, "modules", name)).isDirectory(),
    );
    expect(modules.map(({ name }) => name).sort()).toEqual(names.sort());
    const bound = modules.flatMap(({ msg, query }) => [msg, query].flatMap((each) => each?.service.typeName ?? []));
    expect(
      bound.filter((name) => findService(name) === undefined),
      "run: npm run gen",
    ).toEqual([]);
    const own = allServices().filter(({ typeName }) => typeName.startsWith("svc."));
    expect(own.filter(({ typeName }) => !bound.includes(typeName)).map(({ typeName }) => typeName)).toEqual([]);
  });

  it("has the errors of every module in the catalogue that clients read", () => {
    const names = readdirSync(join(SRC, "modules")).filter((name) =>
      statSync(join(SRC, "modules", name)).isDirectory(),
    );
    expect([...CHAIN_ERRORS.keys()].sort(), "run: npm run gen").toEqual(["sdk", ...names].sort());
    for (const [codespace, rows] of CHAIN_ERRORS) {
      const codes = Object.values(rows).map(({ code }) => code);
      expect(new Set(codes).size, `${codespace} numbers each error once`).toBe(codes.length);
      expect(new Set(Object.values(rows).map((row) => row.codespace))).toEqual(new Set([codespace]));
    }
  });

  it("names errors of the chain by their rows, never by their numbers", () => {
    const spaces = [...CHAIN_ERRORS.keys()].join("|");
    const literal = new RegExp(`codespace === "(?:${spaces})".*\\bcode ===|"(?:${spaces})/\\d+"`);
    const clients = files.filter(({ folder, isTest }) => !isTest && CLIENTS.includes(folder));
    const faults = clients.flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, i) => (literal.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
    );
    expect(faults).toEqual([]);
  });

  it("names every variant for browsers in package.json", () => {
    const { browser } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const built = (path: string): string => `./${path.replace(/^src/, "dist/lib").replace(/ts$/, "js")}`;
    const variants = files.filter(({ path }) => path.endsWith(".browser.ts")).map(({ path }) => built(path));
    expect(Object.values(browser).sort()).toEqual(variants.sort());
    expect(Object.keys(browser).sort()).toEqual(variants.map((path) => path.replace(".browser", "")).sort());
  });

  it("says nothing of the machine it was written on", () => {
    const faults = files
      .filter((file) => /\/work\/|\/root\/main|registry\.npmjs/.test(file.text))
      .map((file) => file.path);
    expect(faults).toEqual([]);
  });
});

describe("the tests", () => {
  it("wait for no program without a limit", () => {
    const direct = /\b(?:spawnSync|execFileSync|execSync)\b[^;]*from "node:child_process"/;
    const names = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".ts"),
    );
    expect(names.filter((name) => direct.test(readFileSync(join(ROOT, "test", name), "utf8")))).toEqual([]);
  });
});

describe("the provider", () => {
  it("has rooms that are entered by their doors", () => {
    const faults = provider.flatMap((file) =>
      imports(file).flatMap((target) => {
        const room = roomBetween(file.path, target);
        return room === undefined || target === `${room}/index.ts`
          ? []
          : [`${file.path} imports ${target}: use the door`];
      }),
    );
    expect(faults).toEqual([]);
  });

  it("names a cluster driver in one place", () => {
    const names = CLUSTER_KINDS.map(({ name }) => name);
    const named = names.flatMap((name) => {
      const folder = `${CLUSTER}/${name}/`;
      const others = files.filter(({ path, isTest }) => !isTest && !path.startsWith(folder));
      return others.filter((file) => imports(file).some((target) => target.startsWith(folder))).map(({ path }) => path);
    });
    expect([...new Set(named)]).toEqual([DRIVER_LIST]);
    expect(CLUSTER_KINDS.filter(({ page }) => !existsSync(join(ROOT, page)))).toEqual([]);
  });

  it("has a contract that speaks of leases, and of no kind of cluster", () => {
    const words = /kubernetes|docker|podman|gateway api|ingress ?class|pod ?security|kernel|socket/i;
    const contract = files.filter(({ path, isTest }) => !isTest && path.startsWith(`${CLUSTER}/contract/`));
    expect(
      contract.flatMap(({ path, text }) =>
        text
          .split("\n")
          .filter((line) => words.test(line))
          .map((line) => `${path}: ${line}`),
      ),
    ).toEqual([]);
  });

  it("runs every cluster driver against the suite of the contract, and lists it", () => {
    const drivers = readdirSync(join(ROOT, CLUSTER)).filter(
      (name) => statSync(join(ROOT, CLUSTER, name)).isDirectory() && !["contract", "shared"].includes(name),
    );
    const suites = ["src", "test"]
      .flatMap((folder) => walk(join(ROOT, folder)))
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => readFileSync(path, "utf8"))
      .filter((text) => text.includes("clusterConformance"));
    const untried = drivers.filter((name) => !suites.some((text) => new RegExp(`\\b${name}\\b`, "i").test(text)));
    expect(untried, "call clusterConformance in a test").toEqual([]);
    expect(drivers).toEqual(CLUSTER_KINDS.map(({ name }) => name));
  });

  it("has no import cycles, of files nor of rooms", () => {
    const own = (file: SourceFile): string[] => imports(file).filter((target) => target.startsWith(`${PROVIDER}/`));
    expect(cycles(new Map(provider.map((file) => [file.path, own(file)])))).toEqual([]);
    const roomOf = (path: string): string => path.split("/").slice(0, 3).join("/");
    const rooms = new Map<string, string[]>();
    for (const file of provider) {
      const room = roomOf(file.path);
      const others = own(file).map(roomOf);
      rooms.set(room, [...(rooms.get(room) ?? []), ...others.filter((other) => other !== room)]);
    }
    expect(cycles(rooms)).toEqual([]);
  });

  it("has rooms that one can look over", () => {
    const counts = new Map<string, number>();
    for (const { path } of provider) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_ROOM_FILES)).toEqual([]);
  });
});
