// Writes src/wire/proto-files.ts, the list of all generated files: node tools/proto-files.mjs <checkout>
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [target = root] = process.argv.slice(2);
const WELL_KNOWN = ["any", "duration", "timestamp"].map((name) => {
  return { proto: `google/protobuf/${name}`, from: "@bufbuild/protobuf/wkt" };
});

const generated = readdirSync(join(target, "src/wire/gen"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith("_pb.js"))
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
writeFileSync(join(target, "src/wire/proto-files.ts"), text);
const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
const args = [biome, "check", "--write", "--log-level=error", join(target, "src/wire/proto-files.ts")];
if (target === root && spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0) process.exit(1);
