import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const POLL_MS = 200;
/** A lock that names nobody, or a number that another process has by now, is not waited for longer. */
const STALE_MS = 15 * 60 * 1000;

/**
 * Takes a lock: a file with the number of the process that holds it, made whole in one step. That of a dead process is
 * taken over; `onWait` is told once, with the number, where a living one has it. Any other fault is thrown. Gives the way
 * to release it.
 */
export function takeLock(path, onWait) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${process.pid}\n`);
  try {
    let isWaiting = false;
    while (!tryLink(own, path)) {
      const holder = holderOf(path);
      if (holder === undefined) continue;
      if (isStale(holder)) {
        takeAway(path, holder);
        continue;
      }
      if (!isWaiting) onWait(holder.pid);
      isWaiting = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(path, { force: true });
}

function tryLink(own, path) {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Who holds the lock; nothing when it was released meanwhile. */
function holderOf(path) {
  // A link to nothing is in the way as well, and would otherwise look as if it were gone.
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return { pid: stat.isDirectory() ? 0 : pidIn(path), inode: stat.ino, age: Date.now() - stat.mtimeMs };
}

function pidIn(path) {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10) || 0;
  } catch (error) {
    if (error.code === "ENOENT") return 0;
    throw error;
  }
}

function isStale({ pid, age }) {
  return age > STALE_MS || (pid > 0 && !isAlive(pid));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Only one of several that see a dead lock moves it away; whoever moved a fresh one by that puts it back. */
function takeAway(path, { inode }) {
  const away = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, away);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  if (lstatSync(away).ino !== inode) tryLink(away, path);
  rmSync(away, { recursive: true, force: true });
}
