// Packages of npm for an archive: from node_modules where they are installed, else from the registry. A package from there
// must have the hash that the lockfile, or the pin of Node.js, holds.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGES } from "../console.mjs";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const runtime = JSON.parse(readFileSync(join(root, "tools", "release", "runtime.json"), "utf8"));
const { packages: locked } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));

/** Platforms that a release has archives for, by the names of Node.js. */
export const PLATFORMS = Object.keys(runtime.packages);
export const NODE_VERSION = runtime.version;

/** Files that programs read; the others of a package are types, sources, tests and pages. */
const READ = /\.(c?js|mjs|json|node|proto|wasm)$/;
const LICENSE = /^(licen[cs]e|notice|copying)/i;
/** Line between two licences. */
const RULE = `\n\n${"-".repeat(80)}\n\n`;

/** Runs a program and returns its output; ends this one with it if it fails. */
export function output(command, args, options = {}) {
  const stdio = ["ignore", "pipe", 2];
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: root,
    stdio,
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return stdout.toString();
}

/** Folder with the contents of a package of the registry, unpacked in .cache/ after its hash was compared. */
function fetched({ name, version, integrity }) {
  const digest = createHash("sha256").update(integrity).digest("hex").slice(0, 16);
  const folder = join(root, ".cache", "release", digest);
  if (existsSync(folder)) return folder;
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  try {
    const flags = ["--pack-destination", work, "--json", "--prefer-offline", "--loglevel=error"];
    output("npm", ["pack", `${name}@${version}`, ...flags]);
    const [file] = readdirSync(work);
    const tarball = join(work, file);
    const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
    if (found !== integrity) throw new Error(`${name}@${version} from the registry is ${found}, not ${integrity}`);
    output("tar", ["-xzf", tarball, "-C", work, "--strip-components=1", "--no-same-owner"]);
    rmSync(tarball);
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Folder of the package that carries Node.js for a platform. */
export function runtimeFolder(platform) {
  return fetched({ version: runtime.version, ...runtime.packages[platform] });
}

/** Path in the lockfile of a package that another one needs. */
function resolved(from, name) {
  const parts = from.split("/node_modules/");
  const bases = parts.map((_, i) => parts.slice(0, parts.length - i).join("/node_modules/"));
  const paths = [
    ...bases.filter((base) => base !== "").map((base) => `${base}/node_modules/${name}`),
    `node_modules/${name}`,
  ];
  return paths.find((path) => Object.hasOwn(locked, path));
}

/** Whether a package of the lockfile is for a platform, which has glibc. */
export function suits({ os, cpu, libc }, platform) {
  const [system, arch] = platform.split("-");
  return [
    [os, system],
    [cpu, arch],
    [libc, "glibc"],
  ].every(([allowed, own]) => allowed === undefined || allowed.includes(own));
}

/** Paths in the lockfile of some packages and of all that they need on a platform. */
function closure(names, platform) {
  const paths = new Set();
  const add = (path) => {
    if (path === undefined || paths.has(path) || !suits(locked[path], platform)) return;
    paths.add(path);
    const { dependencies, optionalDependencies } = locked[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) add(resolved(path, name));
  };
  for (const name of names) add(resolved("", name));
  return [...paths].sort();
}

function nameOf(path) {
  return locked[path].name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function folderOf(path) {
  const installed = join(root, path);
  return existsSync(installed) ? installed : fetched({ name: nameOf(path), ...locked[path] });
}

/** Whether a file of a package belongs into the archive of a platform: one that programs read, and of native parts its own. */
function isRead(path, platform) {
  if (!READ.test(path)) return false;
  return !path.endsWith(".node") || (path.includes(platform) && !/musl|\.abi\d+\./.test(path));
}

/** The file of a package that is for one platform alone: with the interface that all versions of Node.js have. */
export function nativeFile(path, platform) {
  const folder = folderOf(path);
  const files = readdirSync(folder).filter((name) => name.endsWith(".node") && isRead(`${path}/${name}`, platform));
  if (files.length !== 1) throw new Error(`${path} has ${files.length} native files for ${platform}, not one`);
  return join(folder, files[0]);
}

/** Copies packages, with all that they need on a platform, below a folder. */
export function copyPackages(names, platform, target) {
  for (const path of closure(names, platform)) {
    const from = folderOf(path);
    cpSync(from, join(target, path), {
      recursive: true,
      filter: (each) => {
        const inside = each.slice(from.length);
        if (statSync(each).isDirectory()) return !inside.endsWith("/node_modules");
        return isRead(`${path}${inside}`, platform);
      },
    });
  }
}

/** The licence in a package's own words: in files, or at the end of its page. */
function licenceIn(folder) {
  const files = readdirSync(folder).filter((file) => statSync(join(folder, file)).isFile());
  const read = (name) =>
    files
      .filter((file) => name.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), "utf8"));
  const page = () => read(/^readme\.md$/i).flatMap((text) => /^(?:#+ )?licen[cs]e\s*\n[\s\S]*/im.exec(text)?.[0] ?? []);
  const [own, other] = [read(LICENSE), page()];
  const texts = own.length > 0 ? own : other;
  return texts.length > 0 ? texts.map((text) => text.trim()).join("\n\n") : "The package has no text of its licence.";
}

/** Licences of packages, by their paths in the lockfile, and of the console's packages. */
export function licences(paths) {
  const [anywhere] = PLATFORMS;
  const texts = [...new Set([...paths, ...closure(PACKAGES, anywhere)])].sort().map((path) => {
    const folder = folderOf(path);
    return `${nameOf(path)} ${locked[path].version} (${locked[path].license ?? "see below"})\n\n${licenceIn(folder)}`;
  });
  return `${texts.join(RULE)}\n`;
}

/** Licences of Node.js and of all that an archive contains, from the plan of its program. */
export function archiveLicences({ packages, inside }, platform) {
  const node = readFileSync(join(runtimeFolder(platform), "LICENSE"), "utf8").trim();
  const rest = licences([...inside, ...closure(packages, platform)]);
  return `Node.js ${NODE_VERSION}\n\n${node}${RULE}${rest}`;
}
