import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorText, type Logger } from "../../../../../util/index.ts";

/**
 * Limits of the kernel for the whole host, or for one of its users, and so for all containers together. At the defaults a
 * single tenant can use them up: 128 inotify instances, one call for all asynchronous I/O, 32 replicas for all
 * process ids. With raised limits a tenant first reaches the memory limit of its container, which all of it counts for.
 */
const LEAST: ReadonlyMap<string, number> = new Map([
  ["fs/aio-max-nr", 1 << 30],
  ["fs/epoll/max_user_watches", 1 << 30],
  ["fs/file-max", 1 << 30],
  ["fs/inotify/max_user_instances", 1 << 20],
  ["fs/inotify/max_user_watches", 1 << 26],
  ["fs/pipe-user-pages-soft", 1 << 26],
  ["kernel/pid_max", 1 << 22],
  ["kernel/pty/max", 1 << 20],
  ["kernel/threads-max", 1 << 22],
  ["net/ipv4/neigh/default/gc_thresh2", 1 << 15],
  ["net/ipv4/neigh/default/gc_thresh3", 1 << 16],
  ["net/ipv6/neigh/default/gc_thresh2", 1 << 15],
  ["net/ipv6/neigh/default/gc_thresh3", 1 << 16],
  ["net/netfilter/nf_conntrack_max", 1 << 20],
]);

/** Raises lower limits; skips limits that this machine lacks or does not let us change. */
export async function raiseSharedLimits(log: Logger, root = "/proc/sys"): Promise<void> {
  const raised: string[] = [];
  const low: string[] = [];
  for (const [name, least] of LEAST) {
    const path = join(root, name);
    const text = await readFile(path, "utf8").catch(() => undefined);
    // Without a limit, or without the part of the kernel that has it, there is nothing to share.
    if (text === undefined || Number(text) === 0 || Number(text) >= least) continue;
    const told = `${name.replaceAll("/", ".")} from ${text.trim()} to ${least}`;
    await writeFile(path, `${least}`).then(
      () => raised.push(told),
      (error) => low.push(`${told} (${errorText(error)})`),
    );
  }
  if (raised.length > 0) log.info("kernel limits that all tenants share were raised", { limits: raised });
  if (low.length > 0) {
    log.warn("kernel limits that all tenants share are low: one tenant could exhaust them; raise them", {
      limits: low,
    });
  }
}
