// The packages beside the program and the library in the npm package, and inside the program, from package-lock.json.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { PACKAGES } from "../console.mjs";
import { nativeFile, PLATFORMS, suits } from "./packages.mjs";

/** Files of a package that no program reads, a quarter of all: pages that are no licence, maps of sources, tests and examples. */
const FOR_READERS =
  /^(test|tests|docs|examples?|benchmarks?|bench|\.github)(\/|$)|\.map$|^(?!.*(licen[cs]e|notice|copying)).*\.md$/i;

/** Declarations, and sources that programs do not run. */
const TYPES = /\.[cm]?tsx?$/;
/** Packages that declarations of the library name: compilers of its users read their types. */
const TYPED = ["@bufbuild/protobuf", "@noble/curves", "@noble/hashes", "valibot"];

/** Package in an import of the library's code. */
const IMPORTED = /(?:from |import\(|require\()"((?:@[\w-]+\/)?[\w-]+)[/"]/g;

/** Path in the lockfile of a package that the one at a path needs: below it, or below a folder around it. */
function resolved(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    const path = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (at === "") return undefined;
  }
}

/**
 * Paths in the lockfile of some packages and of all that they need, for every platform. They are followed from package to package: the
 * lockfile's own marks also keep platforms of a compiler that a package names as an optional peer.
 */
function closure(packages, roots) {
  const paths = new Set();
  const add = (from, names) => {
    for (const name of names) {
      const path = resolved(packages, from, name);
      if (path === undefined) throw new Error(`package-lock.json has no ${name}, which ${from || "svc"} needs`);
      if (paths.has(path)) continue;
      paths.add(path);
      add(path, needs(packages[path]));
    }
  };
  add("", roots);
  return [...paths].sort();
}

function needs({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Packages that the program and the library of the npm package in a folder load. */
function loaded(folder) {
  const lib = join(folder, "dist", "lib");
  const scripts = readdirSync(lib, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
  const imports = scripts.flatMap((name) => [...readFileSync(join(lib, name), "utf8").matchAll(IMPORTED)]);
  const { packages } = JSON.parse(readFileSync(join(folder, "dist", ".plan"), "utf8"));
  return new Set([...packages, ...imports.map(([, name]) => name)]);
}

function lockOf(root) {
  return JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
}

/** Names and versions, such as `ws@8.23.0`, of the packages beside and inside the program of an npm package, and in its console. */
export function containedPackages(root, { dependencies, optionalDependencies }, { inside }) {
  const { packages } = lockOf(root);
  const others = closure(packages, [...Object.keys({ ...dependencies, ...optionalDependencies }), ...PACKAGES]);
  return new Set(
    [...others, ...inside].map((path) => {
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
function sorted(packages, names) {
  const paths = closure(packages, names);
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
 * Puts the packages that the npm package in a folder loads beside it, from the installation of the checkout, and returns the fields of
 * a manifest that has them inside, with the native parts for the platforms of a release. npm installs the parts for other platforms,
 * in the tested version.
 */
export function bundlePackages(root, target) {
  const { overrides = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { packages } = lockOf(root);
  const names = loaded(target);
  const pick = (all) => Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
  const [dependencies, optional] = [pick(packages[""].dependencies), pick(packages[""].optionalDependencies)];
  const found = sorted(packages, Object.keys({ ...dependencies, ...optional }));
  const { portable, inside, left } = found;
  const absent = inside.map(nameOf);
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
  const exact = left.map((path) => [nameOf(path), packages[path].version]);
  return {
    dependencies,
    optionalDependencies: { ...optional, ...Object.fromEntries(exact) },
    bundleDependencies: Object.keys({ ...dependencies, ...optional }),
  };
}
