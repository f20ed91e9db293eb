// Makes the files of a release: node tools/release.mjs [folder, dist/release by default]. The npm package, version.txt
// with the version as the network serves it, the list of contents (CycloneDX), and the SHA-256 of each. The same
// sources make the same bytes: they contain no time and no place.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = resolve(process.argv[2] ?? join(root, "dist", "release"));
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

function output(command, args) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", 2],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(1);
  return stdout.toString();
}

function sha256(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/**
 * Names and versions of the packages that an installation brings; the others are needed only for building, or are
 * optional.
 */
function installed() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const kept = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional);
  return new Set(kept.map(([path, each]) => `${each.name ?? path.split("node_modules/").at(-1)}@${each.version}`));
}

/**
 * The packages that an installation brings, from the lockfile: for every platform, without what only building needs. They
 * are chosen here, because `npm sbom --omit=dev` also leaves out packages that building shares with the program.
 */
function billOfMaterials(tarball) {
  const args = [
    "sbom",
    "--sbom-format=cyclonedx",
    "--sbom-type=application",
    "--package-lock-only",
    "--loglevel=error",
  ];
  const { serialNumber, metadata, components: all, dependencies: links, ...bill } = JSON.parse(output("npm", args));
  const { timestamp, ...about } = metadata;
  const brought = installed();
  const components = all.filter((each) => brought.has(`${each.name}@${each.version}`));
  const refs = new Set([metadata.component["bom-ref"], ...components.map((each) => each["bom-ref"])]);
  const dependencies = links
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  const hashes = [{ alg: "SHA-256", content: sha256(tarball) }];
  // npm names the program after the folder.
  const component = { ...about.component, name, hashes };
  return { ...bill, metadata: { ...about, component }, components, dependencies };
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const tarball = output(process.execPath, [join(root, "tools", "package.mjs"), folder]).trim();
const bill = join(folder, `${name}-${version}.cdx.json`);
writeFileSync(bill, `${JSON.stringify(billOfMaterials(tarball), null, 2)}\n`);
const versionFile = join(folder, "version.txt");
writeFileSync(versionFile, `v${version}\n`);
const files = [tarball, bill, versionFile];
const sums = files.map((path) => `${sha256(path)}  ${basename(path)}\n`).join("");
writeFileSync(join(folder, "SHA256SUMS"), sums);
process.stdout.write(sums);
