import { DatabaseLock, storeErrors } from "../../store/index.ts";
import { makePrivateDirectory, SvcError } from "../../util/index.ts";
import { commandError } from "../errors.ts";

/** The lock that is held while a daemon runs. */
export interface HomeLock {
  release(): void;
}

/**
 * Limits a daemon's home to one process. The lock is a folder in `folder`; a process that was killed no longer holds
 * it. Throws `text` with its remedy if another process has it.
 */
export function lockHome(folder: string, { text, hint }: { readonly text: string; readonly hint: string }): HomeLock {
  makePrivateDirectory(folder);
  try {
    return DatabaseLock.take(folder);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== storeErrors.inUse.code || error.codespace !== "store")
      throw error;
    throw commandError(text, { hint });
  }
}
