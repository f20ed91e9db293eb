// Makes seeded mutations of the source, one at a time, and prints which test catches each: npm run lab mutations. The
// commit, SVC_LAB_SEED and these variables repeat a run: SVC_LAB_MUTATIONS (20) is the number of mutations, SVC_LAB_ONLY
// names one by its number, SVC_LAB_MINUTES (15) is the time for the tests of each. The source and staged files are
// copied; a failure counts if the same test passes without the mutation.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";
import { root, tests } from "./suite/runner.mjs";

const seed = Number(process.env.SVC_LAB_SEED ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(process.env.SVC_LAB_MUTATIONS ?? 20);
const minutes = Number(process.env.SVC_LAB_MINUTES ?? 15);
const only = process.env.SVC_LAB_ONLY?.split(",").map(Number);

/** Folders and their weights: most where money and safety are. */
const WEIGHTS = { modules: 5, provider: 5, runtime: 2, store: 2, wire: 2, sdl: 2, client: 2, tenant: 2, cli: 2 };

/** Tests with real processes for each folder; they run if no other test catches a mutation. */
const END_TO_END = {
  modules: ["test/interop/simd-modules", "test/interop/simd-staking", "test/e2e/governance"],
  provider: ["test/e2e/engine-driver", "test/e2e/engine-host", "test/e2e/deploy", "test/e2e/two-providers"],
  runtime: ["test/interop/simd-chain", "test/interop/simd-refusals"],
  store: ["test/interop/ics23", "test/kill/node"],
  wire: ["test/interop/cosmjs", "test/interop/simd-amino"],
  sdl: ["test/e2e/deploy"],
  client: ["test/e2e/deploy", "test/interop/simd-rpc"],
  tenant: ["test/e2e/deploy"],
  cli: ["test/e2e/cli-node", "test/e2e/localnet", "test/e2e/deploy"],
};

const NEAREST_FILES = 4;

/** Errors about unused names and unreachable code, which keep no program from running. */
const HARMLESS = new Set([6133, 6138, 6192, 6196, 6198, 6199, 7027]);

const OPERATORS = {
  boundary: { "<": "<=", "<=": "<", ">": ">=", ">=": ">" },
  equality: { "===": "!==", "!==": "===" },
  arithmetic: { "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=" },
  logical: { "&&": "||", "||": "&&" },
};

/** Calls without an effect on results: logs, and assertions about programming errors. */
const IGNORED_CALL = /^(?:await )?(?:assert\b|console\.|super\b|\S*\blog(?:ger)?\??\.)/i;
/** Durations: no test asserts wall-clock time. */
const DURATION = /(?:_MS|Ms|_SECONDS|Seconds)\b/;

/** Mulberry32: whole numbers below `bound` from a seed. */
function randomly(state) {
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Possible mutations of a node: their kind, place and text. `typeOf` describes the type of an expression. */
function* mutationsOf(node, file, typeOf) {
  const text = (each) => file.text.slice(each.getStart(file), each.end);
  const change = (kind, each, to) => ({ kind, start: each.getStart(file), end: each.end, to });
  if (node.kind === SyntaxKind.BinaryExpression) {
    const sign = text(node.operatorToken);
    for (const [kind, signs] of Object.entries(OPERATORS)) {
      if (Object.hasOwn(signs, sign)) yield change(kind, node.operatorToken, () => signs[sign]);
    }
  } else if (node.kind === SyntaxKind.IfStatement || node.kind === SyntaxKind.ConditionalExpression) {
    const condition = node.expression ?? node.condition;
    yield change("condition", condition, () => `!(${text(condition)})`);
  } else if (node.kind === SyntaxKind.ExpressionStatement) {
    const isCall = [SyntaxKind.CallExpression, SyntaxKind.AwaitExpression].includes(node.expression.kind);
    if (isCall && !IGNORED_CALL.test(text(node))) yield change("call", node, () => ";");
  } else if (node.kind === SyntaxKind.NumericLiteral || node.kind === SyntaxKind.BigIntLiteral) {
    const line = file.text.slice(file.text.lastIndexOf("\n", node.end) + 1, node.end);
    const value = BigInt(Math.trunc(Number(text(node).replaceAll("_", "").replace(/n$/, ""))));
    const suffix = text(node).endsWith("n") ? "n" : "";
    if (!DURATION.test(line)) yield change("number", node, (random) => `${value + (random(2) ? 1n : -1n)}${suffix}`);
  } else if (node.kind === SyntaxKind.ReturnStatement || node.kind === SyntaxKind.ArrowFunction) {
    const value = node.expression ?? node.body;
    if (value !== undefined && value.kind !== SyntaxKind.Block) {
      yield change("return", value, () => emptyOf(typeOf(value), text(value)));
    }
  }
}

/** The empty value of a type, or undefined if it has none. */
function emptyOf(type, text) {
  const empty = { string: '""', bigint: "0n", number: "0", boolean: "false", true: "false", false: "true" }[type];
  const value = type.endsWith("[]") ? "[]" : (empty ?? (/\| undefined$/.test(type) ? "undefined" : undefined));
  return value === text ? undefined : value;
}

/** A copy of the checkout on its own file system, for the hard links; it goes with the process. */
function scratchCopy() {
  const tree = join(root, ".cache", "mutations");
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const remove = () => {
    rmSync(tree, { recursive: true, force: true });
    git("worktree", "prune");
  };
  remove();
  git("worktree", "add", "--quiet", "--detach", tree, git("stash", "create") || "HEAD");
  process.once("exit", remove);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  // The build names modules by their paths, so that a symbolic link does not do.
  execFileSync("cp", ["-al", join(root, "node_modules"), tree]);
  const files = execFileSync("git", ["ls-files", "src", "test"], { cwd: tree, encoding: "utf8" }).split("\n");
  return { tree, files: files.filter((file) => file.endsWith(".ts")) };
}

/** Opens the project in the compiler. `faults` are the type errors after a change of one file. */
function compiler(tree) {
  const api = new API({ cwd: tree });
  const config = join(tree, "tsconfig.json");
  const projectOf = (snapshot) => snapshot.getProject(config) ?? snapshot.getProjects()[0];
  const project = projectOf(api.updateSnapshot({ openProjects: [config] }));
  let restored = [];
  const faults = (file) => {
    const snapshot = api.updateSnapshot({ fileChanges: { changed: [join(tree, file), ...restored] } });
    restored = [join(tree, file)];
    const { program } = projectOf(snapshot);
    const found = [program.getSyntacticDiagnostics(join(tree, file)), program.getSemanticDiagnostics(join(tree, file))];
    snapshot.dispose();
    return found.flat().filter(({ code }) => !HARMLESS.has(code));
  };
  return { project, faults, close: () => api.close() };
}

/** All mutations of a folder by kind. */
function candidates(folder, { tree, files }, project) {
  const typeOf = (node) => project.checker.typeToString(project.checker.getTypeAtLocation(node));
  const kinds = {};
  const sources = files.filter(
    (file) => file.startsWith(`src/${folder}/`) && !/\/gen\/|\.(test|browser)\.ts$/.test(file),
  );
  for (const path of sources) {
    const file = project.program.getSourceFile(join(tree, path));
    const visit = (node) => {
      for (const each of mutationsOf(node, file, typeOf)) {
        kinds[each.kind] ??= [];
        kinds[each.kind].push({ ...each, path, folder, text: file.text });
      }
      node.forEachChild(visit);
    };
    visit(file);
  }
  return kinds;
}

/** `count` mutations that compile. */
function choose(copy) {
  const { project, faults, close } = compiler(copy.tree);
  const random = randomly(seed);
  const bag = Object.entries(WEIGHTS).flatMap(([folder, weight]) => Array(weight).fill(folder));
  const known = {};
  const chosen = [];
  while (chosen.length < count) {
    const folder = bag[random(bag.length)];
    known[folder] ??= candidates(folder, copy, project);
    const kinds = Object.values(known[folder]);
    const sites = kinds[random(kinds.length)];
    const { to, ...site } = sites[random(sites.length)];
    const replacement = to(random);
    if (replacement === undefined) continue;
    const mutated = `${site.text.slice(0, site.start)}${replacement}${site.text.slice(site.end)}`;
    writeFileSync(join(copy.tree, site.path), mutated);
    const isValid = faults(site.path).length === 0;
    writeFileSync(join(copy.tree, site.path), site.text);
    if (isValid) chosen.push({ ...site, mutated, replacement });
  }
  close();
  return chosen;
}

/** Test files that import a file, directly or by way of others, the nearest first. */
function testsOf(path, importers) {
  const distances = new Map([[path, 0]]);
  for (const [file, distance] of distances) {
    for (const next of importers.get(file) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  // Doors bring all modules near each other: folders count first.
  const steps = (file) => relative(dirname(path), dirname(file)).split("/").filter(Boolean).length;
  return [...distances.keys()]
    .filter((file) => file.endsWith(".test.ts") && !/^test\/(?:e2e|interop|kill|attack)\//.test(file))
    .sort((a, b) => steps(a) - steps(b) || distances.get(a) - distances.get(b));
}

/** Files that import each file. */
function importersIn({ tree, files }) {
  const importers = new Map();
  for (const file of files) {
    const text = readFileSync(join(tree, file), "utf8");
    for (const [, target] of text.matchAll(/(?:from|import|new URL)\s*\(?\s*"(\.[^"]+)"/g)) {
      const path = relative(tree, resolve(tree, dirname(file), target));
      importers.set(path, [...(importers.get(path) ?? []), file]);
    }
  }
  return importers;
}

/** Runs of tests for a mutation, the quickest first. */
function stagesOf({ path, folder }, importers) {
  const all = testsOf(path, importers);
  const near = all.slice(0, NEAREST_FILES);
  const others = all.slice(NEAREST_FILES);
  return [
    { project: "unit", files: near },
    { project: "slow", files: near },
    { project: "unit", files: others },
    { project: "slow", files: others },
    { project: "simulation", files: all.filter((file) => file.endsWith(".sim.test.ts")) },
    { project: "e2e", files: END_TO_END[folder] },
  ].filter(({ files }) => files.length > 0);
}

let runs = 0;

/** Failures of test files in the unchanged copy, up to the first. Unit tests run the source, others the built program too. */
async function failuresOf({ project, files }, tree, until) {
  if (project !== "unit") {
    const { status } = spawnSync(process.execPath, ["tools/build.mjs"], { cwd: tree, stdio: "ignore" });
    if (status !== 0) return { failures: ["npm run build"], files: [] };
  }
  runs += 1;
  const options = ["--bail", "1", "--maxWorkers", "1", "--passWithNoTests"];
  const left = Math.max(0.1, (until - Date.now()) / 60_000);
  const run = { minutes: left, cwd: tree, isQuiet: true };
  return tests(`mutation-${runs}`, ["--project", project, ...files, ...options], run);
}

/** The first line of the failure that catches a mutation; without one, whether all tests ran in time. */
async function caughtBy(mutation, stages, tree) {
  const until = Date.now() + minutes * 60_000;
  const source = join(tree, mutation.path);
  for (const stage of stages) {
    while (stage.files.length > 0) {
      writeFileSync(source, mutation.mutated);
      const { failures, files: failed } = await failuresOf(stage, tree, until);
      writeFileSync(source, mutation.text);
      if (failures.length === 0) break;
      // A mutation may keep the nearest tests from ending; of others there may be too many.
      if (Date.now() > until && stage !== stages[0]) return { isLate: true };
      const files = failed.length === 0 ? stage.files : failed;
      const again = await failuresOf({ ...stage, files }, tree, Date.now() + minutes * 60_000);
      if (again.failures.length > 0) {
        console.log(`    not counted, fails without the mutation too: ${again.failures[0].split("\n")[0]}`);
      } else {
        // On a busy machine a test may fail for another reason once.
        writeFileSync(source, mutation.mutated);
        const twice = await failuresOf({ ...stage, files }, tree, Date.now() + minutes * 60_000);
        writeFileSync(source, mutation.text);
        if (twice.failures.length > 0) return { test: twice.failures[0].split("\n")[0] };
        console.log(`    not counted, fails with the mutation once only: ${failures[0].split("\n")[0]}`);
      }
      stage.files = stage.files.filter((file) => !files.some((each) => each.includes(file)));
    }
  }
  return { isLate: false };
}

function describe({ kind, path, text, start, end, replacement }) {
  const before = text.slice(0, start).split("\n");
  const place = `${path}:${before.length}:${before.at(-1).length + 1}`;
  const line = text.slice(text.lastIndexOf("\n", start) + 1, text.indexOf("\n", end));
  const was = text.slice(start, end).replaceAll(/\s+/g, " ");
  return `${place} ${kind}: \`${was}\` -> \`${replacement}\` in \`${line.trim().replaceAll(/\s+/g, " ").slice(0, 160)}\``;
}

const copy = scratchCopy();
const importers = importersIn(copy);
console.log(`${count} mutations with SVC_LAB_SEED=${seed}`);
const survivors = [];
for (const [index, mutation] of choose(copy).entries()) {
  const number = index + 1;
  if (only !== undefined && !only.includes(number)) continue;
  console.log(`${number}. ${describe(mutation)}`);
  const began = Date.now();
  const { test, isLate } = await caughtBy(mutation, stagesOf(mutation, importers), copy.tree);
  const seconds = Math.round((Date.now() - began) / 1_000);
  console.log(
    test === undefined
      ? `    SURVIVED ${seconds} s of tests${isLate ? ", not all of them" : ""}`
      : `    caught in ${seconds} s by ${test}`,
  );
  if (test === undefined) survivors.push(number);
}
console.log(survivors.length === 0 ? "all were caught" : `survived: ${survivors.join(", ")}`);
process.exit(survivors.length === 0 ? 0 : 1);
