import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

/** Paths of sockets can have 107 bytes; longer ones are reached through an open folder. */
const MAX_SOCKET_PATH = 100;

/** A path that the system takes for a socket in the folder, however long the folder's is; `release` when it was used. */
export function socketPath(folder: string, name: string): { readonly path: string; release(): void } {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return { path, release: () => {} };
  const descriptor = openSync(folder, "r");
  return { path: `/proc/self/fd/${descriptor}/${name}`, release: () => closeSync(descriptor) };
}
