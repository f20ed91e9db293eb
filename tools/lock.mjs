import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const POLL_MS = 200;
/** The longest wait for a lock without an owner, or whose number another process has by now. */
const STALE_MS = 15 * 60 * 1000;

/**
 * Takes a lock: a file with the number of the process that holds it, made whole in one step. The lock of a dead process
 * is taken over; if a living one has it, `onWait` is called once with the number. Any other fault is thrown. Returns
 * the function that releases it.
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

/** The holder of the lock; nothing if it was released meanwhile. */
function holderOf(path) {
  // A dangling link blocks the lock as well, and would otherwise look as if it were gone.
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

/**
 * Only one of several processes that see a dead lock moves it away; a process that moved a fresh one by mistake puts it
 * back.
 */
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
