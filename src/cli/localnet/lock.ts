import { DatabaseLock, storeErrors } from "../../store/index.ts";
import { SvcError } from "../../util/index.ts";
import { commandError } from "../errors.ts";

/** What is held while a localnet runs. */
export interface HomeLock {
  release(): void;
}

/**
 * Keeps a localnet's home to one process: a second start would remove the home and the containers of the first. The lock
 * is a folder in `runDir`; a process that was killed holds none.
 */
export function lockHome(home: string, runDir: string): HomeLock {
  try {
    return DatabaseLock.take(runDir);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== storeErrors.inUse.code || error.codespace !== "store")
      throw error;
    throw commandError(`a localnet runs in ${home} already`, {
      hint: "stop it with Ctrl-C where it runs, or start another one beside it with --port-offset 100 (and its own --home)",
    });
  }
}
