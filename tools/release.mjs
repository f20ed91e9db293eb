// Makes what a release consists of: node tools/release.mjs [folder, dist/release by default]. The npm package, version.txt with
// the version as the network serves it, the list of what is inside (CycloneDX), and the SHA-256 of each. The same sources make the
// same bytes: nothing in them tells when or where they were made.
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

/** The packages that an installation brings, from the lockfile: for every platform, without what only building needs. */
function billOfMaterials(tarball) {
  const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--omit=dev", "--package-lock-only"];
  const { serialNumber, metadata, ...bill } = JSON.parse(output("npm", [...args, "--loglevel=error"]));
  const { timestamp, ...about } = metadata;
  const hashes = [{ alg: "SHA-256", content: sha256(tarball) }];
  // npm names the program after the folder.
  return { ...bill, metadata: { ...about, component: { ...about.component, name, hashes } } };
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
