// The packages that an installation of the npm package brings, from package-lock.json.
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { nativeFile, PLATFORMS, suits } from "./packages.mjs";

/** A faster list of ciphers for SSH, which no connection of the program uses, and headers. An installation would compile them. */
const LEFT_OUT = ["cpu-features", "nan"];

/** Files of a package that no program reads, a quarter of all: pages that are no licence, maps of sources, tests and examples. */
const FOR_READERS =
  /^(test|tests|docs|examples?|benchmarks?|bench|\.github)(\/|$)|\.map$|^(?!.*(licen[cs]e|notice|copying)).*\.md$/i;

/** Declarations, and sources that programs do not run. */
const TYPES = /\.[cm]?tsx?$/;
/** Packages that declarations of the library name: compilers of its users read their types. */
const TYPED = ["@bufbuild/protobuf", "@noble/curves", "@noble/hashes", "valibot"];

/** Path in the lockfile of a package that the one at a path needs: below it, or below a folder around it. */
function resolved(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    const path = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (at === "") return undefined;
  }
}

/**
 * Paths in the lockfile, for every platform. They are followed from package to package: the lockfile's own marks also keep
 * platforms of a compiler that a package names as an optional peer.
 */
function production(packages) {
  const paths = new Set();
  const add = (from) => {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = packages[from];
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta[name]?.optional !== true);
    const names = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
    for (const name of names.filter((each) => !LEFT_OUT.includes(each))) {
      const path = resolved(packages, from, name);
      if (path === undefined) throw new Error(`package-lock.json has no ${name}, which ${from || "svc"} needs`);
      if (paths.has(path)) continue;
      paths.add(path);
      add(path);
    }
  };
  add("");
  return [...paths].sort();
}

function lockOf(root) {
  return JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
}

/** Names and versions of the packages, such as `ws@8.23.0`. */
export function broughtPackages(root) {
  const { packages } = lockOf(root);
  return new Set(
    production(packages).map((path) => {
      const { name = path.split("node_modules/").at(-1), version } = packages[path];
      return `${name}@${version}`;
    }),
  );
}

/** Whether a package is for some platforms alone. */
function isNative({ os, cpu, libc }) {
  return os !== undefined || cpu !== undefined || libc !== undefined;
}

/** Puts the native part of a platform to where the package that needs it looks first. Returns its path there. */
function putNative(file, folder, platform) {
  const name = basename(file);
  const place = name.startsWith("node.") ? join("prebuilds", platform, name) : name;
  mkdirSync(dirname(join(folder, place)), { recursive: true });
  copyFileSync(file, join(folder, place));
  return place;
}

/** Packages of the lockfile by their paths: those for every platform, native parts for the platforms of a release, and for others. */
function sorted(root) {
  const { packages } = lockOf(root);
  const paths = production(packages);
  const isInside = (path) => PLATFORMS.some((each) => suits(packages[path], each));
  const natives = paths.filter((path) => isNative(packages[path]));
  return {
    packages,
    portable: paths.filter((path) => !natives.includes(path)),
    inside: natives.filter(isInside),
    left: natives.filter((path) => !isInside(path)),
  };
}

const nameOf = (path) => path.slice("node_modules/".length);

/** Native parts that a package asks npm for, put into its folder. Returns their paths there. */
function putNatives({ packages, inside }, path, folder) {
  const { optionalDependencies: needed = {} } = packages[path];
  const own = inside.filter((each) => Object.hasOwn(needed, nameOf(each)));
  return own.map((native) => {
    const platform = PLATFORMS.find((each) => suits(packages[native], each));
    return putNative(nativeFile(native, platform), folder, platform);
  });
}

/** Writes into the manifest of a package what is beside it, of which `npm ls` would report, or npm bring, something else. */
function settleManifest(path, { overrides, absent, placed }) {
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const { dependencies = {}, optionalDependencies = {} } = manifest;
  const names = Object.keys(overrides).filter((name) => Object.hasOwn(dependencies, name));
  for (const name of names) dependencies[name] = overrides[name];
  for (const name of absent) delete optionalDependencies[name];
  if (placed.length > 0) manifest.files = [...(manifest.files ?? ["**"]), ...placed];
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Puts the packages of every platform into a folder, from the installation of the checkout, and returns the fields of a
 * manifest that has them inside, with the native parts for the platforms of a release. npm installs the parts for other platforms,
 * in the tested version.
 */
export function bundlePackages(root, target) {
  const { overrides = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const found = sorted(root);
  const { packages, portable, inside, left } = found;
  const absent = [...LEFT_OUT, ...inside.map(nameOf)];
  for (const path of portable) {
    const folder = join(target, path);
    const isUsed = (from) => {
      const name = relative(join(root, path), from);
      if (TYPES.test(name) && !TYPED.includes(nameOf(path))) return false;
      return !name.includes("node_modules") && !FOR_READERS.test(name);
    };
    cpSync(join(root, path), folder, { recursive: true, filter: isUsed });
    settleManifest(join(folder, "package.json"), { overrides, absent, placed: putNatives(found, path, folder) });
  }
  const { dependencies, optionalDependencies } = packages[""];
  const exact = left.map((path) => [nameOf(path), packages[path].version]);
  return {
    dependencies,
    optionalDependencies: { ...optionalDependencies, ...Object.fromEntries(exact) },
    bundleDependencies: Object.keys({ ...dependencies, ...optionalDependencies }),
  };
}
