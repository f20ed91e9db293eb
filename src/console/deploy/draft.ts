import { effect, signal } from "@preact/signals";
import * as v from "valibot";
import { errorText } from "../../util/index.ts";

/** A deployment file that is being written. */
export interface Draft {
  /** Name of the file in faults and commands. */
  readonly name: string;
  readonly text: string;
  /** Written by hand; other texts come whole, and need no pause before providers are asked. */
  readonly isTyped: boolean;
}

const EMPTY: Draft = { name: "deploy.yaml", text: "", isTyped: false };

/** The name under which this tab keeps the draft. */
const KEPT = "svc draft";
const schema = v.pipe(v.string(), v.parseJson(), v.object({ name: v.string(), text: v.string() }));

/** The draft from before the page was loaded again. */
function kept(): Draft {
  try {
    const read = v.safeParse(schema, sessionStorage.getItem(KEPT));
    return read.success ? { ...read.output, isTyped: false } : EMPTY;
  } catch {
    return EMPTY;
  }
}

/** Some browsers keep nothing, or not as much. */
function keep({ name, text }: Draft): void {
  try {
    sessionStorage.removeItem(KEPT);
    sessionStorage.setItem(KEPT, JSON.stringify({ name, text }));
  } catch {
    // The draft then ends with the page.
  }
}

/** The text in the editor; it stays while other pages are shown, and when the page is loaded again. */
export const draft = signal(kept());
/** The text that is read and priced: the editor's, once typing pauses. */
export const settled = signal(draft.peek());
// A page that crashes, or is discarded in the background, is not told so.
effect(() => keep(settled.value));
addEventListener("pagehide", () => keep(draft.peek()));
/** The typed deposit; undefined for the least that the chain accepts. */
export const typedDeposit = signal<string | undefined>(undefined);
/** Why the last opened file is no text, or the form could not change it. */
export const openFault = signal<string | undefined>(undefined);

/** Milliseconds without a change after which typing counts as paused. */
const PAUSE_MS = 250;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Number of texts that were typed or wanted so far. */
let wanted = 0;

/** Takes a typed text. */
export function type(text: string): void {
  wanted += 1;
  draft.value = { ...draft.peek(), text, isTyped: true };
  openFault.value = undefined;
  clearTimeout(timer);
  timer = setTimeout(() => {
    settled.value = draft.peek();
  }, PAUSE_MS);
}

/** Replaces the text by that of a template or a file. */
export function replace(whole: Omit<Draft, "isTyped">): void {
  const next = { ...whole, isTyped: false };
  clearTimeout(timer);
  openFault.value = undefined;
  typedDeposit.value = undefined;
  draft.value = next;
  settled.value = next;
}

/** A text that was loaded, or why there is none. */
export type Found = Omit<Draft, "isTyped"> | { readonly sentence: string };

/** Replaces the text by one that is on its way, unless another one is typed or wanted before it comes. */
export async function replaceBy(loading: Promise<Found>): Promise<void> {
  wanted += 1;
  const own = wanted;
  const found = await loading.catch((error: unknown) => ({ sentence: errorText(error) }));
  if (own !== wanted) return;
  if ("text" in found) replace(found);
  else openFault.value = found.sentence;
}

/** Reads a file of the reader's machine; it goes nowhere. */
export async function open(file: File): Promise<Found> {
  const { readFile } = await import("./read.ts");
  const text = await readFile(file);
  return typeof text === "string" ? { name: file.name, text } : text;
}
