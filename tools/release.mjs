// Makes a release: npm run release -- [folder, dist/release by default] [--key FILE] [--platform linux-x64] [--no-engine]
//   [--package FILE, an npm package that was made from these sources] [--level 1 to 9, of the compression of archives]
// The folder is what a network serves at its net_url: version.txt, install.sh, and releases/vVERSION/ with the npm package,
// the archive of each platform, packages for Debian and RPM, CometBFT for each (--no-engine leaves out both), the list of
// contents (CycloneDX), SHA256SUMS about these, and its signatures SHA256SUMS.sig and .sshsig. The same sources and key make the same
// bytes: they contain no time but that of the commit, and no place.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeArchive } from "./release/archive.mjs";
import { billOfMaterials } from "./release/bill.mjs";
import { makeEngineArchive } from "./release/engine.mjs";
import { makeLinuxPackages } from "./release/linux.mjs";
import { PLATFORMS } from "./release/packages.mjs";
import { installer, publicText, releaseKey, signFolder } from "./release/sign.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const USAGE =
  "usage: npm run release -- [folder] [--key FILE] [--platform linux-x64] [--no-engine] [--package FILE] [--level 1 to 9]";
const { values, positionals } = words();
const folder = resolve(positionals[0] ?? join(root, "dist", "release"));
const platforms = values.platform ?? PLATFORMS;
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The words of the command; others end it with its usage. */
function words() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        key: { type: "string" },
        platform: { type: "string", multiple: true },
        "no-engine": { type: "boolean", default: false },
        package: { type: "string" },
        level: { type: "string", default: "6" },
      },
    });
  } catch (error) {
    const isHelp = process.argv.includes("--help");
    console[isHelp ? "log" : "error"](isHelp ? USAGE : `${error.message}\n${USAGE}`);
    process.exit(isHelp ? 0 : 2);
  }
}

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

/** Packages for distributions from archives, where there is a Go to build the program that makes them. */
function linuxPackages(archives) {
  if (values["no-engine"]) return;
  if (spawnSync("go", ["version"]).status !== 0) {
    console.error("no packages for Debian and RPM, because there is no Go in PATH");
    return;
  }
  for (const archive of archives) makeLinuxPackages({ archive, folder: target });
}

/** The archive of CometBFT for each platform, where there is a Go to build it with. */
function engines() {
  if (values["no-engine"]) return;
  for (const platform of platforms) makeEngineArchive(platform, target);
}

/** Puts the npm package into the release. Its program is built in a folder of its own: others may start the one in dist/. */
function npmPackage(work) {
  const tarball = join(target, `${name}-${version}.tgz`);
  if (values.package !== undefined) copyFileSync(values.package, tarball);
  else output(process.execPath, [join(root, "tools", "package.mjs"), target, join(work, "dist")]);
  return tarball;
}

/** The own files of the package. */
function unpacked(tarball, work) {
  const made = join(work, "package");
  mkdirSync(made);
  output("tar", ["-xzf", tarball, "-C", made, "--strip-components=1", "--exclude=package/node_modules"]);
  return made;
}

const key = releaseKey(values.key ?? process.env.SVC_RELEASE_KEY);
const target = join(folder, "releases", `v${version}`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const cache = join(root, "node_modules", ".cache");
mkdirSync(cache, { recursive: true });
const work = mkdtempSync(join(cache, "release-"));
const archives = [];
try {
  const tarball = npmPackage(work);
  writeFileSync(join(target, `${name}-${version}.cdx.json`), `${JSON.stringify(billOfMaterials(tarball), null, 2)}\n`);
  const kind = { folder: target, made: unpacked(tarball, work), publicKey: publicText(key), level: values.level };
  for (const platform of platforms) archives.push(await makeArchive({ platform, ...kind }));
} finally {
  rmSync(work, { recursive: true, force: true });
}
linuxPackages(archives);
engines();
const script = installer(join(root, "tools", "release", "install.sh"), key);
for (const place of [folder, target]) writeFileSync(join(place, "install.sh"), script);
writeFileSync(join(folder, "version.txt"), `v${version}\n`);
process.stdout.write(signFolder(target, key));
if (key.isTest)
  console.error("signed by a test key, made for this run: name a file with --key or SVC_RELEASE_KEY to publish it");
