import { existsSync } from "node:fs";
import { askProvider, type ControlState } from "../../../provider/index.ts";
import { errorText } from "../../../util/index.ts";
import { commandError } from "../../errors.ts";
import { providerDir } from "../run/config.ts";

/** Folder of the home's provider. Throws if none has ever run there. */
export function operatedFolder(home: string): string {
  const folder = providerDir(home);
  if (existsSync(folder)) return folder;
  throw commandError(`no provider has ever run in ${home}`, { hint: "name its home with --home" });
}

/** The state of the home's provider, or undefined if it does not run. */
export async function stateOfHome(home: string): Promise<ControlState | undefined> {
  return stateOfFolder(operatedFolder(home), home);
}

/** The same where the folder may not exist yet. */
export function stateOfFolder(folder: string, home: string): Promise<ControlState | undefined> {
  return askProvider(folder).catch((cause: unknown) => {
    const hint = "run the command as the user of the provider; otherwise look at its log";
    throw commandError(`the provider of ${home} does not answer: ${errorText(cause)}`, { hint, cause });
  });
}

/** The same, where only a running provider knows the answer. */
export async function runningState(home: string): Promise<ControlState> {
  const state = await stateOfHome(home);
  if (state !== undefined) return state;
  throw commandError(`the provider of ${home} is not running`, {
    hint: "start it: svc provider run; name another home with --home",
  });
}
