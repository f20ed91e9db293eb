// The archive of one platform, which needs no Node.js, npm or compiler: svc-VERSION-PLATFORM.tar.gz with
//   bin/svc                the command
//   lib/node               Node.js, as its package in the registry of npm carries it
//   lib/dist/              the program, its compiled code, the console
//   lib/node_modules/      packages that stay outside the program, with the native parts of this platform alone
//   lib/release.pub        public key that signs the next releases (PEM)
//   lib/docs               link to docs/
//   completion/svc.{bash,zsh,fish}, man/man1/, examples/, docs/guides/, deploy/
//   README.md, CHANGELOG.md, LICENSE, THIRD-PARTY-LICENSES.txt
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import { archiveLicences, copyPackages, output, root, runtimeFolder } from "./packages.mjs";

const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const PAGES = ["README.md", "CHANGELOG.md", "LICENSE"];
const FOLDERS = ["examples", "docs/guides", "deploy"];
const SHELLS = ["bash", "zsh", "fish"];
/** With them the same program always compiles to the same bytes. V8 compares its options, so their mark is put right afterwards. */
const STEADY = ["--predictable", "--single-threaded", "--no-flush-bytecode", "--hash-seed=1", "--random-seed=1"];
/** Where V8's compiled code has the hash of the options that it was compiled with, 4 bytes. */
const OPTIONS_AT = 12;
/** Runs programs of another platform: Debian's packages qemu-user-static, libc6-arm64-cross and libstdc++6-arm64-cross. */
const EMULATOR = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"];

/** The entry of the archive: it finds its folder also through links, and refuses a closed standard output as ./svc does. */
const COMMAND = `#!/bin/sh
{ command : 3>&1; } 2>/dev/null || {
  printf '%s\\n' "Error: cannot write to standard output: it is closed" "Hint: leave out >&-, or send it to a file" >&2
  exit 1
}
here=$0
if [ -h "$here" ]; then here=$(readlink -f "$here"); fi
case $here in */*) here=\${here%/*} ;; *) here=. ;; esac
exec "$here/../lib/node" "$here/../lib/dist/svc.cjs" "$@"
`;

function planOf(made) {
  return JSON.parse(readFileSync(join(made, "dist", ".plan"), "utf8"));
}

/** Words that start the Node.js of a platform on this machine; undefined if it cannot run here. */
function starterOf(node, platform) {
  const isOwn = `${process.platform}-${process.arch}` === platform;
  for (const words of isOwn || platform !== "linux-arm64" ? [[node]] : [[node], [...EMULATOR, node]]) {
    const { status } = spawnSync(words[0], [...words.slice(1), "--version"], { stdio: "ignore" });
    if (status === 0) return words;
  }
  return undefined;
}

/** The tool that runs everyday commands, as one file beside the package, where it finds the packages of the checkout. */
async function compiler(made) {
  const outfile = join(dirname(made), "code-cache.mjs");
  const entryPoints = [join(root, "tools", "code-cache.ts")];
  const kind = { bundle: true, format: "esm", platform: "node", target: "node24", packages: "external" };
  await build({ absWorkingDir: root, entryPoints, outfile, logLevel: "warning", ...kind });
  return outfile;
}

/** Compiles the program with the Node.js of the archive, which alone can use the result. It contains the path, so that is relative. */
async function compile(lib, [program, ...words], made) {
  const { packs, main } = planOf(made);
  const plan = join(lib, "plan.json");
  writeFileSync(plan, JSON.stringify({ folder: "dist", packs, main, wanted: "code" }));
  output(program, [...words, ...STEADY, await compiler(made), plan], { cwd: lib });
  rmSync(plan);
  const mark = `process.stdout.write(new vm.Script("0").createCachedData().toString("hex"))`;
  const options = Buffer.from(output(program, [...words, "-e", mark]), "hex").subarray(OPTIONS_AT, OPTIONS_AT + 4);
  for (const { file } of packs) {
    const cache = join(lib, "dist", `${file}.cache`);
    const bytes = readFileSync(cache);
    options.copy(bytes, OPTIONS_AT);
    writeFileSync(cache, bytes);
  }
}

async function putProgram(lib, platform, made) {
  const node = join(lib, "node");
  copyFileSync(join(runtimeFolder(platform), "bin", "node"), node);
  chmodSync(node, 0o755);
  const { packs, packages } = planOf(made);
  mkdirSync(join(lib, "dist"));
  for (const file of ["svc.cjs", ...packs.map((pack) => pack.file)])
    copyFileSync(join(made, "dist", file), join(lib, "dist", file));
  cpSync(join(made, "dist", "console"), join(lib, "dist", "console"), { recursive: true });
  copyPackages(packages, platform, lib);
  const starter = starterOf(node, platform);
  if (starter === undefined) {
    const remedy = "install qemu-user-static, libc6-arm64-cross and libstdc++6-arm64-cross";
    console.error(`${platform}: its Node.js does not run here, so commands of this archive start slower: ${remedy}`);
  } else {
    await compile(lib, starter, made);
  }
}

function putPages(top, platform, made) {
  for (const page of PAGES) copyFileSync(join(root, page), join(top, page));
  for (const folder of FOLDERS) cpSync(join(root, folder), join(top, folder), { recursive: true });
  // svc help TOPIC looks for the guides beside dist/, as in the npm package.
  symlinkSync("../docs", join(top, "lib", "docs"));
  mkdirSync(join(top, "completion"));
  const svc = join(made, "dist", "svc.cjs");
  for (const shell of SHELLS)
    writeFileSync(join(top, "completion", `svc.${shell}`), output(process.execPath, [svc, "completion", shell]));
  cpSync(join(made, "man"), join(top, "man"), { recursive: true });
  writeFileSync(join(top, "THIRD-PARTY-LICENSES.txt"), archiveLicences(planOf(made), platform));
}

/** Packs a folder so that the same contents are the same bytes: in order, without times, owners and the umask of this process. */
export function pack(folder, target, level = 6) {
  const flags = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
  const from = ["--format=gnu", "-C", join(folder, ".."), basename(folder)];
  output("tar", ["-c", "-I", `gzip -${level}n`, "-f", target, ...flags, ...from]);
}

/**
 * Makes the archive of a platform in a folder, and returns its path. `made` is the npm package without its dependencies, in a folder
 * below node_modules; `publicKey` the text of a key; `level` that of the compression.
 */
export async function makeArchive({ platform, folder, made, publicKey, level }) {
  const stage = mkdtempSync(join(tmpdir(), "svc-archive-"));
  try {
    const top = join(stage, `${name}-${version}-${platform}`);
    const lib = join(top, "lib");
    mkdirSync(lib, { recursive: true });
    mkdirSync(join(top, "bin"));
    writeFileSync(join(top, "bin", "svc"), COMMAND);
    chmodSync(join(top, "bin", "svc"), 0o755);
    writeFileSync(join(lib, "release.pub"), publicKey);
    await putProgram(lib, platform, made);
    putPages(top, platform, made);
    const target = join(folder, `${name}-${version}-${platform}.tar.gz`);
    pack(top, target, level);
    return target;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
