// The packages that an installation of the npm package brings, from package-lock.json.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
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

/** Writes the versions of overrides into the manifest of a package that names others, which `npm ls` would report. */
function nameOverridden(path, overrides) {
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const names = Object.keys(overrides).filter((name) => manifest.dependencies?.[name] !== undefined);
  if (names.length === 0) return;
  for (const name of names) manifest.dependencies[name] = overrides[name];
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Puts the packages of every platform into a folder, from the installation of the checkout, and returns the fields of a
 * manifest that has them inside. Native packages are left to npm, which installs that of the platform, in the tested version.
 */
export function bundlePackages(root, target) {
  const { packages } = lockOf(root);
  const { overrides = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const paths = production(packages);
  for (const path of paths.filter((each) => !isNative(packages[each]))) {
    const isOwn = (from) => !from.slice(join(root, path).length).includes("node_modules");
    cpSync(join(root, path), join(target, path), { recursive: true, filter: isOwn });
    nameOverridden(join(target, path, "package.json"), overrides);
  }
  const { dependencies, optionalDependencies } = packages[""];
  const natives = paths.filter((path) => isNative(packages[path]));
  const exact = natives.map((path) => [path.slice("node_modules/".length), packages[path].version]);
  return {
    dependencies,
    optionalDependencies: { ...optionalDependencies, ...Object.fromEntries(exact) },
    bundleDependencies: Object.keys({ ...dependencies, ...optionalDependencies }),
  };
}
