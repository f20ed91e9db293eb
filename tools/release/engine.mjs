// The archive of CometBFT for a platform: cometbft-VERSION-PLATFORM.tar.gz with the program, its licence, and SOURCE, which
// names its source and that of every module in it. Go takes these from its module proxy, and checks them by its database.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "./archive.mjs";
import { output, root } from "./packages.mjs";

const MODULE = "github.com/cometbft/cometbft";
const source = readFileSync(join(root, "src", "engine", "cometbft", "program.ts"), "utf8");
const [, version] = /TESTED_VERSION = "([\d.]+)"/.exec(source);
const GOARCH = { "linux-x64": "amd64", "linux-arm64": "arm64" };
const CHECKED = { GOSUMDB: "sum.golang.org", GONOSUMDB: "none", GOPRIVATE: "none", GOTOOLCHAIN: "local" };

function go(args, env) {
  return output("go", args, { cwd: tmpdir(), env: { ...process.env, ...CHECKED, ...env } });
}

/** Builds the program into a folder; returns its path. A build for another platform lands in a folder of its name. */
function build(platform, work) {
  const arch = GOARCH[platform];
  const cache = go(["env", "GOMODCACHE"]).trim();
  const env = {
    GOPATH: work,
    GOBIN: "",
    GOMODCACHE: cache,
    GOOS: "linux",
    GOARCH: arch,
    GOFLAGS: "-trimpath",
    CGO_ENABLED: "0",
  };
  go(["install", "-ldflags=-s -w -buildid=", `${MODULE}/cmd/cometbft@v${version}`], env);
  const isOwn = go(["env", "GOHOSTARCH"]).trim() === arch;
  const program = join(work, "bin", ...(isOwn ? [] : [`linux_${arch}`]), "cometbft");
  return { program, licence: join(cache, `${MODULE}@v${version}`, "LICENSE") };
}

/** Makes the archive in a folder, if there is a Go to build with. */
export function makeEngineArchive(platform, folder) {
  if (spawnSync("go", ["version"]).status !== 0) {
    console.error(`${platform}: no archive of CometBFT, because there is no Go in PATH`);
    return;
  }
  const work = mkdtempSync(join(tmpdir(), "svc-engine-"));
  try {
    const { program, licence } = build(platform, work);
    const top = join(work, `cometbft-${version}-${platform}`);
    mkdirSync(top);
    copyFileSync(program, join(top, "cometbft"));
    copyFileSync(licence, join(top, "LICENSE"));
    const modules = go(["version", "-m", program]).replaceAll(program, "cometbft");
    const command = `go install -trimpath -ldflags='-s -w -buildid=' ${MODULE}/cmd/cometbft@v${version}`;
    writeFileSync(
      join(top, "SOURCE"),
      `https://${MODULE}, release v${version}, built with CGO_ENABLED=0 by:\n${command}\n\n${modules}`,
    );
    pack(top, join(folder, `cometbft-${version}-${platform}.tar.gz`));
  } finally {
    // Folders of Go's modules are read-only.
    spawnSync("chmod", ["-R", "u+w", work]);
    rmSync(work, { recursive: true, force: true });
  }
}
