// Sets up a checkout: dependencies when the lockfile changed, then the build. Safe to run from several processes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = join(root, ".setup-lock");
const LOCK_STALE_MS = 15 * 60 * 1000;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node.js 20.19 or newer is needed, this is ${process.versions.node}: install a newer nodejs`);
}

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function fail(text) {
  console.error(`svc: ${text}`);
  process.exit(1);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (error) fail(`cannot run ${command}: ${error.message}`);
  if (status !== 0) fail(`${command} ${args.join(" ")} failed; its output is above`);
}

/** Holds the lock while `work` runs; a lock left by a killed process is taken over after a while. */
function withLock(work) {
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const age = existsSync(lock) ? Date.now() - statSync(lock).mtimeMs : 0;
      if (age > LOCK_STALE_MS) rmSync(lock, { recursive: true, force: true });
      else sleep(200);
    }
  }
  process.on("exit", () => rmSync(lock, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
  work();
}

function upToDate(path, content) {
  return existsSync(path) && readFileSync(path, "utf8") === content;
}

withLock(() => {
  const digest = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".installed-lockfile");
  if (!upToDate(stamp, digest)) {
    console.error("svc: installing dependencies (once; about half a minute) ...");
    run("npm", ["ci", "--loglevel=error"]);
    writeFileSync(stamp, digest);
  }
  console.error("svc: building ...");
  run(process.execPath, [join(root, "tools", "build.mjs")]);
});
