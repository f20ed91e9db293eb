// Writes src/wire/proto-files.ts, the list of all generated files, src/wire/modules.ts, the modules with groups of
// commands, and src/wire/errors/tables.ts, the error tables of the modules: node tools/proto-files.mjs <checkout>
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { getOption, hasOption } from "@bufbuild/protobuf";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [target = root] = process.argv.slice(2);
const WELL_KNOWN = ["any", "duration", "timestamp"].map((name) => {
  return { proto: `google/protobuf/${name}`, from: "@bufbuild/protobuf/wkt" };
});

/** Protocols of servers other than the chain's. */
const NOT_OF_THE_CHAIN = ["grpc/", "svc/provider/v1/"];

const generated = readdirSync(join(target, "src/wire/gen"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith("_pb.js") && !NOT_OF_THE_CHAIN.some((folder) => name.startsWith(folder)))
  .sort()
  .map((name) => ({ proto: name.slice(0, -"_pb.js".length), from: `./gen/${name}` }));
const files = [...WELL_KNOWN, ...generated].map(({ proto, from }) => {
  return { from, name: `file_${proto.replaceAll("/", "_")}`, package: dirname(proto).replaceAll("/", ".") };
});

const text = `// Written by npm run gen.
import type { DescFile } from "@bufbuild/protobuf";
${files.map(({ name, from }) => `import { ${name} } from "${from}";`).join("\n")}

/** A generated file, built when it is asked for: the bundle evaluates none before. */
export interface ProtoFile {
  readonly package: string;
  readonly file: () => DescFile;
}

/** Every generated file, in the order of its path. */
export const PROTO_FILES: readonly ProtoFile[] = [
${files.map(({ name, package: own }) => `  { package: "${own}", file: () => ${name} },`).join("\n")}
];
`;

/** The generated code of a proto file. */
const load = (name) => import(pathToFileURL(join(target, "src/wire/gen", name)).href);
const { cli_group } = await load("svc/options/v1beta1/options_pb.js");
const modules = new Map();
for (const { from, name } of files.slice(WELL_KNOWN.length)) {
  for (const service of (await load(from.slice("./gen/".length)))[name].services) {
    if (!hasOption(service, cli_group)) continue;
    const module = service.typeName.split(".")[1];
    modules.set(module, { ...modules.get(module), [service.name]: getOption(service, cli_group).short });
  }
}
const rows = [...modules].sort(([a], [b]) => (a < b ? -1 : 1));

const moduleText = `// Written by npm run gen.

/** The help of a module's commands; nothing if it has none. */
export interface ModuleRow {
  readonly module: string;
  readonly Msg?: string;
  readonly Query?: string;
}

/** Modules with commands, from the options of their services: to list them no descriptor is built. */
export const MODULES: readonly ModuleRow[] = [
${rows.map(([module, row]) => `  ${JSON.stringify({ module, ...row })},`).join("\n")}
];
`;

const NOT_TABLES = ["catalogue.ts", "index.ts", "tables.ts"];
const tables = readdirSync(join(target, "src/wire/errors"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !NOT_TABLES.includes(name))
  .sort()
  .map((name) => {
    const source = readFileSync(join(target, "src/wire/errors", name), "utf8");
    const [, table, codespace] = /^export const (\w+) = defineErrors\(\s*"(\w+)"/m.exec(source) ?? [];
    if (table === undefined)
      throw new Error(`src/wire/errors/${name}: export the table as xErrors = defineErrors("x", ...)`);
    return { table, codespace, from: `./${name}` };
  });

const tableText = `// Written by npm run gen.
import type { ErrorFactory } from "../../util/index.ts";
${tables.map(({ table, from }) => `import { ${table} } from "${from}";`).join("\n")}

/** The errors of each module, by its codespace. */
export const MODULE_ERRORS: readonly (readonly [string, Readonly<Record<string, ErrorFactory>>])[] = [
${tables.map(({ table, codespace }) => `  ["${codespace}", ${table}],`).join("\n")}
];

${tables.map(({ table, from }) => `export { ${table} } from "${from}";`).join("\n")}
`;

write("proto-files.ts", text);
write("errors/tables.ts", tableText);
write("modules.ts", moduleText);

function write(name, content) {
  const path = join(target, "src/wire", name);
  writeFileSync(path, content);
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "check", "--write", "--log-level=error", path];
  if (target === root && spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0) process.exit(1);
}
