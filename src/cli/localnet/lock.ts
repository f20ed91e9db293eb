import { type HomeLock, lockHome } from "../config/home-lock.ts";

/** A second start would remove the home and the containers of the first. The lock is in the run folder. */
export function lockLocalnet(home: string, runDir: string): HomeLock {
  return lockHome(runDir, {
    text: `a localnet runs in ${home} already`,
    hint: "stop it with Ctrl-C where it runs, or start another one beside it with --port-offset 100 (and its own --home)",
  });
}
