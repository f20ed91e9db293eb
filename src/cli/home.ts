import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Flags } from "./flags.ts";

/** The directory of configuration, data and keys: `--home`, `SVC_HOME`, else `.svc` in the user's home. */
export function homeOf(flags: Flags): string {
  const home = flags.optional("home");
  return home === undefined ? join(homedir(), ".svc") : resolve(home);
}

/** The client's settings of a home. */
export function configPath(home: string): string {
  return join(home, "config", "client.toml");
}
