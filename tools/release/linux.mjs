// The packages of Linux distributions, made from the archive of a platform by nfpm: svc_VERSION_amd64.deb and
// svc-VERSION-1.x86_64.rpm, and the same for arm64. The archive lies in /usr/lib/svc; man pages, completion and units lie where
// distributions have theirs. node tools/release/linux.mjs ARCHIVE FOLDER
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { output, root } from "./packages.mjs";

const { license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const ARCHES = { "linux-x64": "amd64", "linux-arm64": "arm64" };
const KINDS = ["deb", "rpm"];
const SYSTEMD = "/usr/lib/systemd/system";
/** A line for lists of packages, and what people read before they install. */
const DESCRIPTION = `node, client and provider for a market of container capacity
Tenants rent containers from providers, by the block, on a blockchain of their
own. One command runs deployments, a node of the chain, or a provider beside
Podman, and serves a console to a browser. The package brings its own Node.js.`;
/** Where a checkout of the guide lies, in the unit of the provider. */
const CHECKOUT = "/opt/svc/svc";
/** Times in a package when its sources have no commit; tools refuse older ones. */
const EPOCH = 946684800;

/** Time of the commit, so that the same sources make the same bytes. */
function sourceTime() {
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  return new Date((status === 0 ? Number(stdout) : EPOCH) * 1000).toISOString();
}

function units(work) {
  const folder = join(root, "deploy", "systemd");
  const write = (name, text) => writeFileSync(join(work, name), text);
  const provider = readFileSync(join(folder, "svc-provider.service"), "utf8");
  if (!provider.includes(CHECKOUT)) throw new Error(`the unit of the provider no longer starts ${CHECKOUT}`);
  const named = "[Unit]\nDescription=Provider of container capacity\nDocumentation=man:svc-provider-run(1)";
  write(
    "svc-provider.service",
    provider
      .replace(/^#.*\n/, "")
      .replace("[Unit]", named)
      .replace(CHECKOUT, "/usr/bin/svc"),
  );
  write("svc-node.service", readFileSync(join(folder, "svc-node.service"), "utf8"));
}

/** Copyright and changelog in the form and place of Debian. */
function documents(work) {
  const head =
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nCopyright: 2026 the svc authors\n";
  const note = "Comment: /usr/lib/svc/THIRD-PARTY-LICENSES.txt has the licences of everything inside.\n";
  const text = `License: ${license}\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n`;
  writeFileSync(join(work, "copyright"), `${head}${text}${note}`);
  compress(join(root, "CHANGELOG.md"), join(work, "changelog.gz"));
}

function compress(from, target) {
  output("sh", ["-c", 'gzip -9nc "$1" >"$2"', "sh", from, target]);
}

function pages(program, work) {
  const from = join(program, "man", "man1");
  const target = join(work, "man1");
  mkdirSync(target);
  for (const name of readdirSync(from)) compress(join(from, name), join(target, `${name}.gz`));
  rmSync(join(program, "man"), { recursive: true });
}

const place = (work, name, target, more = {}) => ({ src: join(work, name), dst: target, ...more });

function contents(program, work) {
  const config = { type: "config|noreplace" };
  const own = (mode) => ({ file_info: { mode } });
  const scripts = join(root, "deploy", "packages");
  return [
    { src: program, dst: "/usr/lib/svc", type: "tree" },
    { src: "../lib/svc/bin/svc", dst: "/usr/bin/svc", type: "symlink" },
    { src: join(work, "man1"), dst: "/usr/share/man/man1", type: "tree" },
    place(join(program, "completion"), "svc.bash", "/usr/share/bash-completion/completions/svc"),
    place(join(program, "completion"), "svc.zsh", "/usr/share/zsh/vendor-completions/_svc", { packager: "deb" }),
    place(join(program, "completion"), "svc.zsh", "/usr/share/zsh/site-functions/_svc", { packager: "rpm" }),
    place(join(program, "completion"), "svc.fish", "/usr/share/fish/vendor_completions.d/svc.fish"),
    place(work, "svc-node.service", `${SYSTEMD}/svc-node.service`),
    place(work, "svc-provider.service", `${SYSTEMD}/svc-provider.service`),
    place(scripts, "node.env", "/etc/svc/node.env", { ...config, ...own(0o640) }),
    place(scripts, "provider.env", "/etc/svc/provider.env", { ...config, ...own(0o600) }),
    place(work, "copyright", "/usr/share/doc/svc/copyright"),
    place(work, "changelog.gz", "/usr/share/doc/svc/changelog.gz"),
    place(scripts, "lintian-overrides", "/usr/share/lintian/overrides/svc", { packager: "deb" }),
  ];
}

function settings({ platform, version }, program, work) {
  const scripts = join(root, "deploy", "packages");
  return {
    name: "svc",
    arch: ARCHES[platform],
    platform: "linux",
    version,
    section: "net",
    priority: "optional",
    maintainer: "The svc authors <svc@example.com>",
    description: DESCRIPTION,
    license,
    mtime: sourceTime(),
    umask: 0o022,
    contents: contents(program, work),
    // Another program of this name sends signals to services.
    conflicts: ["daemontools"],
    overrides: {
      deb: {
        depends: ["libc6 (>= 2.28)", "libstdc++6 (>= 8)", "passwd"],
        recommends: ["ca-certificates", "podman"],
        suggests: ["libusb-1.0-0"],
      },
      rpm: {
        depends: ["glibc >= 2.28", "libstdc++", "shadow-utils"],
        recommends: ["ca-certificates", "podman"],
        suggests: ["libusb1"],
      },
    },
    scripts: {
      postinstall: join(scripts, "postinstall.sh"),
      preremove: join(scripts, "preremove.sh"),
      postremove: join(scripts, "postremove.sh"),
    },
  };
}

/** Makes both packages of an archive, whose name has the version and the platform, in a folder; returns their paths. */
export function makeLinuxPackages({ archive, folder }) {
  const [, version, platform] = /^svc-(.+)-(linux-\w+)\.tar\.gz$/.exec(basename(archive)) ?? [];
  if (ARCHES[platform] === undefined) throw new Error(`${archive} is no archive of a platform`);
  const nfpm = output(join(root, "tools", "peers", "build.sh"), ["nfpm"]).trim();
  const work = mkdtempSync(join(tmpdir(), "svc-linux-"));
  try {
    const program = join(work, "program");
    mkdirSync(program);
    output("tar", ["-xzf", archive, "-C", program, "--strip-components=1", "--no-same-owner"]);
    // Settings of linters are of no use, and libraries are not programs.
    output("find", [program, "-name", ".eslintrc*", "-delete"]);
    output("find", [program, "-name", "*.node", "-exec", "chmod", "644", "{}", "+"]);
    pages(program, work);
    units(work);
    documents(work);
    // Files that lie in a folder of the package keep their own time.
    output("find", [work, "-exec", "touch", "--no-dereference", `--date=${sourceTime()}`, "{}", "+"]);
    // JSON is YAML too.
    writeFileSync(join(work, "nfpm.yaml"), JSON.stringify(settings({ platform, version }, program, work)));
    return KINDS.map((kind) => {
      const words = ["package", "--config", join(work, "nfpm.yaml"), "--packager", kind, "--target", folder];
      const [, path] = /created package: (.*)/.exec(output(nfpm, words)) ?? [];
      if (path === undefined) throw new Error(`nfpm made no ${kind}`);
      return resolve(path);
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [archive, folder] = process.argv.slice(2).map((path) => resolve(path));
  console.log(makeLinuxPackages({ archive, folder }).join("\n"));
}
