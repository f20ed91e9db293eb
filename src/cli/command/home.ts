import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { errorText, keepOthersOut } from "../../util/index.ts";
import type { Flags } from "./flags.ts";

/** The directory of configuration, data and keys: `--home`, `SVC_HOME`, else `.svc` in the user's home. */
export function homeOf(flags: Flags): string {
  const home = flags.optional("home");
  return home === undefined ? join(userHome(), ".svc") : userPath(home);
}

/** The user's own home, also where `HOME` is set to nothing. */
export function userHome(): string {
  return homedir() || userInfo().homedir;
}

/**
 * Expands `~` in a path: shells and service files do not expand `--home=~/x`, and a folder is hardly ever named `~`.
 */
export function userPath(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(userHome(), path.slice(1)) : resolve(path);
}

/** The client's settings of a home. */
export function configPath(home: string): string {
  return join(home, "config", "client.toml");
}

/** The block that the node of a home wrote down: the home trusts it unless `client.toml` names another. */
export function ownBlockPath(home: string): string {
  return join(home, "data", "trusted-block.json");
}

/** Folders of a home whose files decide which keys and settings are used. */
const FOLDERS = ["", "config", "certs", "data", "keyring-file", "keyring-test"];

/** Takes the right to write in a home from its group and others, who could replace its keys and settings. */
export function mendHome(home: string, tell: (warning: string) => void): void {
  for (const path of FOLDERS.map((name) => join(home, name))) {
    try {
      if (keepOthersOut(path)) tell(`Warning: other users could write in ${path}; they no longer can`);
    } catch (error) {
      tell(`Warning: other users can write in ${path}, which cannot be changed: ${errorText(error)}`);
    }
  }
}
