import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory } from "../../util/index.ts";

/** Is in the provider's folder while the operator drains it, also over restarts. */
const FILE = "drain";

/** Why a provider that is drained does not bid. */
export const DRAINING = "the operator is draining this provider: it takes no new leases";

export function isDraining(stateDir: string): boolean {
  return existsSync(join(stateDir, FILE));
}

/** A running provider notices within seconds. */
export function setDraining(stateDir: string, isOn: boolean): void {
  const path = join(stateDir, FILE);
  if (!isOn) {
    rmSync(path, { force: true, recursive: true });
    return;
  }
  makePrivateDirectory(stateDir);
  writeFileSync(path, "svc provider drain --undo ends this\n", { mode: 0o600 });
}
