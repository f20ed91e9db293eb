import { createContext } from "preact";
import { checkServiceName } from "../../../sdl/index.ts";
import { form as words } from "../../text/form.ts";
import { draft, openFault, type } from "../draft.ts";
import type { Remark } from "../read.ts";
import { type Edit, edited } from "./edit.ts";

/** Faults of the text, for the inputs that they are about. */
export const Faults = createContext<readonly Remark[]>([]);

/** Input for the name of a further service. */
export const NEW_SERVICE = "new-service";

/** Changes the text in its place. `focus` names the input to go on with where one was added, or the focused one has gone. */
export function change(edit: Edit, focus?: string): void {
  const text = edited(draft.peek().text, edit);
  if (text === undefined) {
    openFault.value = words.repeated;
    return;
  }
  type(text);
  if (focus !== undefined) requestAnimationFrame(() => focusAt(focus));
}

/** The text of an input is selected, as the Tab key does: what is typed takes its place. */
function focusAt(id: string): void {
  const found = document.getElementById(id);
  found?.focus();
  if (found instanceof HTMLInputElement) found.select();
}

/** One character more than a service's name may have, which shows that a name is too long. */
export const MAX_NAME = 64;

/** Why a service cannot have a name, in the words of `svc sdl validate`; `taken` are the names of the others. */
export function nameFault(name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return words.taken;
  const checked = checkServiceName(name);
  return "value" in checked ? undefined : `${checked.problem}; ${checked.remedy}`;
}
