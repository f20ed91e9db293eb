// Sets up a checkout: dependencies when the lockfile changed, then the build. Safe to run from several processes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./lock.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = join(root, ".setup-lock");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node.js 20.19 or newer is needed, this is ${process.versions.node}: install a newer nodejs`);
}

function fail(text) {
  console.error(`svc: ${text}`);
  process.exit(1);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (error) fail(`cannot run ${command}: ${error.message}`);
  if (status !== 0) fail(`${command} ${args.join(" ")} failed; its output is above`);
}

const REASONS = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a file is in the way",
};

function cannotWrite(path, error) {
  const reason = REASONS[error.code] ?? error.message;
  fail(`cannot write in ${path}: ${reason}. Run it as the owner of the checkout, or use a copy where you may write`);
}

/** The paths that are written later, checked before anything begins. */
function checkWritable(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) fail(`${path} is not a directory: remove it and run this again`);
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    cannotWrite(path, error);
  }
}

/** Holds the lock while `work` runs. */
function withLock(work) {
  const onWait = (pid) =>
    console.error(
      `svc: waiting for ${pid === 0 ? "another process" : `process ${pid}`}, which sets this checkout up ...`,
    );
  try {
    process.on("exit", takeLock(lock, onWait));
  } catch (error) {
    cannotWrite(root, error);
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
  work();
}

function upToDate(path, content) {
  return existsSync(path) && readFileSync(path, "utf8") === content;
}

for (const path of [root, join(root, "dist"), join(root, "dist", "chunks"), join(root, "node_modules")])
  checkWritable(path);
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
