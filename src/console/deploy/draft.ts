import { signal } from "@preact/signals";

/** A deployment file that is being written. */
export interface Draft {
  /** Name of the file in faults and commands. */
  readonly name: string;
  readonly text: string;
  /** Written by hand; other texts come whole, and need no pause before providers are asked. */
  readonly isTyped: boolean;
}

const EMPTY: Draft = { name: "deploy.yaml", text: "", isTyped: false };

/** The text in the editor; it stays while other pages are shown. */
export const draft = signal(EMPTY);
/** The text that is read and priced: the editor's, once typing pauses. */
export const settled = signal(EMPTY);
/** The typed deposit; undefined for the least that the chain accepts. */
export const typedDeposit = signal<string | undefined>(undefined);
/** Why the last opened file is no text. */
export const openFault = signal<string | undefined>(undefined);

/** Milliseconds without a change after which typing counts as paused. */
const PAUSE_MS = 250;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Takes a typed text. */
export function type(text: string): void {
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

/** Reads a file of the reader's machine; it goes nowhere. */
export async function open(file: File): Promise<void> {
  const { readFile } = await import("./read.ts");
  const text = await readFile(file);
  if (typeof text === "string") replace({ name: file.name, text });
  else openFault.value = text.sentence;
}
