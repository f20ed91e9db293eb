import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "./bounded.ts";
import { ROOT } from "./build.ts";

/** Blocks per year after the migration of the next program. */
export const BLOCKS_PER_YEAR = "777";

/**
 * Builds a program in a folder from a copy of the sources, as a next version has them: with the upgrade v2 and a migration
 * of the module mint. Returns its path.
 */
export function buildNextProgram(folder: string): string {
  copySources(folder);
  replace(join(folder, "src/app/upgrades/upgrades.ts"), "UpgradeHandlers = {}", "UpgradeHandlers = { v2: () => {} }");
  const params = `{ ...keeper.getParams(ctx), blocksPerYear: ${BLOCKS_PER_YEAR}n }`;
  const migration = `(ctx) => keeper.params.set(ctx.store("mint"), ${params})`;
  const name = 'name: "mint",';
  replace(join(folder, "src/modules/mint/index.ts"), name, `${name} version: 2, migrations: { 1: ${migration} },`);
  return build(folder);
}

/** Builds the program of a byzantine validator from a copy of the sources. Returns its path. */
export function buildByzantine(folder: string): string {
  copySources(folder);
  copyFileSync(join(ROOT, "test/network/byzantine/spoil.ts"), join(folder, "src/app/spoil.ts"));
  const path = join(folder, "src/app/application.ts");
  const head = "import { Claims, type ConsensusParams,";
  replace(path, head, `import { LAST_SPOILED, lie, see, spoil } from "./spoil.ts";\n${head}`);
  const propose = "prepareProposal(request: PrepareProposal): readonly Uint8Array[] {";
  const spoiled = "return spoil(request.height, this.honestProposal(request), request.maxBytes);";
  replace(path, propose, `${propose} ${spoiled} }\n honestProposal${propose.slice("prepareProposal".length)}`);
  const process = "processProposal(request: ProcessProposal): boolean {";
  const isOwn = "if (request.height <= LAST_SPOILED) return true;";
  replace(path, process, `${process} ${isOwn}`);
  const check = "checkTx({ tx, kind, place }: CheckTx): CheckTxResult {";
  replace(path, check, `${check} see(tx);`);
  const result = "appHash: prepared.appHash,\n    };\n  }\n\n  /**\n   * Throws if";
  replace(path, result, result.replace("prepared.appHash", "lie(height, prepared.appHash)"));
  return build(folder);
}

function copySources(folder: string): void {
  for (const name of ["src", "tools", "proto", "examples", "tsconfig.json", "package.json", "package-lock.json"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
  linkPackages(folder);
}

function build(folder: string): string {
  const { status, stderr } = spawnSync(process.execPath, ["tools/build.mjs"], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return join(folder, "dist", "svc.cjs");
}

/** The build names files of one package by their place in the tree, where a link would lead out of it. */
function linkPackages(folder: string): void {
  const [own, scope] = ["node_modules", join("node_modules", "@bufbuild")];
  mkdirSync(join(folder, scope), { recursive: true });
  for (const name of readdirSync(join(ROOT, own)).filter((each) => each !== "@bufbuild"))
    symlinkSync(join(ROOT, own, name), join(folder, own, name));
  cpSync(join(ROOT, scope, "protobuf"), join(folder, scope, "protobuf"), { recursive: true });
}

function replace(path: string, before: string, after: string): void {
  const text = readFileSync(path, "utf8");
  if (text.split(before).length !== 2) throw new Error(`${path} has ${before} not once`);
  writeFileSync(path, text.replace(before, after));
}
