import { createContext } from "preact";
import { draft, type } from "../draft.ts";
import type { Remark } from "../read.ts";
import { type Edit, edited } from "./edit.ts";

/** Faults of the text, for the inputs that they are about. */
export const Faults = createContext<readonly Remark[]>([]);

/** Input for the name of a further service. */
export const NEW_SERVICE = "new-service";

/** Changes the text in its place. `focus` names the input to go on with where one was added, or the focused one has gone. */
export function change(edit: Edit, focus?: string): void {
  type(edited(draft.peek().text, edit));
  if (focus !== undefined) requestAnimationFrame(() => focusAt(focus));
}

/** The text of an input is selected, as the Tab key does: what is typed takes its place. */
function focusAt(id: string): void {
  const found = document.getElementById(id);
  found?.focus();
  if (found instanceof HTMLInputElement) found.select();
}
