// Traces which rooms one command of the program comes back to: node tools/rooms.mjs tx bank send ... A room is a folder of
// src/, or one of src/cli/; a call into a room that was left before counts one. Rooms that all others use as tools are left out.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { parseAst } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const TOOLS = /^(util|wire|crypto|store|cli\/(command|terminal|values|context))$/;

function roomOf(path) {
  const [, top, second = "", third] = path.split("/");
  return top === "cli" && third !== undefined ? `cli/${second}` : top;
}

/** The code with the body of every function wrapped in a call that notes the room it is in. */
async function traced(path) {
  const { code } = await transform(readFileSync(path, "utf8"), { loader: "ts", target: "node20" });
  const room = JSON.stringify(roomOf(relative(root, path)));
  const inserts = [];
  const visit = (node, parent) => {
    if (node === null || typeof node !== "object") return;
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) && !node.generator) {
      const name = JSON.stringify(node.id?.name ?? parent?.key?.name ?? parent?.id?.name ?? "closure");
      const start = `__enter(${room}, ${name}, ${node.async ? "async " : ""}() => `;
      const { start: from, end: to } = node.body;
      if (node.body.type === "BlockStatement") inserts.push([from + 1, `return ${start}{`], [to - 1, "});"]);
      else inserts.push([from, `${start}(`], [to, "))"]);
    }
    for (const child of Object.values(node)) {
      for (const each of [child].flat()) visit(each, node.type === undefined ? parent : node);
    }
  };
  visit(parseAst(code));
  // Functions begin outermost first and end innermost first.
  const sorted = inserts
    .map(([at, text], order) => ({ at, text, order }))
    .sort((a, b) => a.at - b.at || a.order - b.order);
  let [text, last] = ["", 0];
  for (const each of sorted) {
    text += code.slice(last, each.at) + each.text;
    last = each.at;
  }
  // Work of a module at load time is no call of the command.
  return `const __before = __als.getStore(); __als.enterWith("load");\n${text}${code.slice(last)}\n__als.enterWith(__before);`;
}

const PRELUDE = `import { AsyncLocalStorage as __Storage } from "node:async_hooks";
import { appendFileSync as __append } from "node:fs";
const __als = new __Storage();
const __enter = (room, name, body) => {
  const from = __als.getStore() ?? "cli";
  if (from === "load") return body();
  if (from !== room) __append(process.env.ROOMS_TRACE, from + " " + room + " " + name + "\\n");
  return __als.run(room, body);
};`;

mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, "node_modules", ".cache", "rooms-"));
try {
  const load = async ({ path }) => ({ contents: await traced(path), loader: "js", resolveDir: dirname(path) });
  const plugin = { name: "rooms", setup: (own) => own.onLoad({ filter: /\/src\/.*\.ts$/ }, load) };
  const outfile = join(folder, "svc.mjs");
  await build({
    ...{ absWorkingDir: root, entryPoints: ["src/cli/main.ts"], outfile, plugins: [plugin], bundle: true },
    ...{ format: "esm", platform: "node", target: "node20", packages: "external", logLevel: "error" },
    banner: { js: PRELUDE },
    footer: { js: "await main();" },
  });
  const trace = join(folder, "trace");
  writeFileSync(trace, "");
  const env = { ...process.env, ROOMS_TRACE: trace };
  const { status } = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit", env });
  const seen = new Set();
  let again = 0;
  for (const line of readFileSync(trace, "utf8").split("\n").slice(0, -1)) {
    const [from, to, name] = line.split(" ");
    if (TOOLS.test(from) || TOOLS.test(to)) continue;
    if (seen.has(to)) again += 1;
    console.log(`${from} -> ${to} (${name})${seen.has(to) ? ` comes back: ${again}` : ""}`);
    seen.add(from).add(to);
  }
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
