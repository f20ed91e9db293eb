import { effect, type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { safe } from "../parts/safe.ts";
import { deploy } from "../text/deploy.ts";
import type { Editing, Place } from "./code.ts";
import type { Reading } from "./read.ts";

/** One character more than may be read, which shows that a text is too large; ten million line ends would stop the page. */
const MAX_TYPED = 65_537;

interface FileTextProps {
  readonly text: ReadonlySignal<string>;
  /** Faults and warnings of the text. */
  readonly reading: ReadonlySignal<Reading | undefined>;
  /** The wished place of the cursor; undefined once it is there. */
  readonly place: Signal<Place | undefined>;
  readonly rows: number;
  readonly onText: (text: string) => void;
  /** Takes a file that is dropped on the text. */
  readonly onFile: (file: File) => void;
}

/** The text of a deployment file: in a text area until the editor has come, and where it cannot be loaded. */
export function FileText({ text, reading, place, rows, onText, onFile }: FileTextProps) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const composition = useRef(Promise.resolve());
  const editing = useSignal<Editing | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    const begin = async (): Promise<void> => {
      const { edit } = await import("./code.ts");
      await composition.current;
      if (isOver || host.current === null || area.current === null) return;
      editing.value = edit({ host: host.current, area: area.current, onText, shown });
    };
    begin().catch(() => undefined);
    return () => {
      isOver = true;
      editing.peek()?.end();
    };
  }, []);
  useChanges(() => editing.value?.setText(text.value));
  useChanges(() => editing.value?.setReading(reading.value));
  useChanges(() => {
    if (place.value === undefined) return;
    if (editing.value !== undefined) editing.value.goTo(place.value);
    else if (area.current !== null) goTo(area.current, place.value);
    place.value = undefined;
  });
  const drop = (event: DragEvent): void => {
    const [file] = hold(event);
    if (file !== undefined) onFile(file);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a label leads the pointer to its field; keys reach it by Tab. */}
      <label for={id} onClick={() => editing.peek()?.focus()}>
        {deploy.file}
      </label>
      <div class="editor" onDragOverCapture={hold} onDropCapture={drop}>
        <div ref={host} class="code" hidden={editing.value === undefined} />
        {editing.value === undefined && (
          <textarea
            ref={area}
            id={id}
            value={text}
            onInput={(event) => onText(event.currentTarget.value)}
            onCompositionStart={({ currentTarget }) => {
              composition.current = ended(currentTarget);
            }}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            wrap="off"
            rows={rows}
            maxLength={MAX_TYPED}
          />
        )}
      </div>
    </>
  );
}

/** Tells the editor of changes at once: with `useSignalEffect`, keys that come before the next frame would meet the text and the cursor of before. */
function useChanges(tell: () => void): void {
  useEffect(() => effect(tell), []);
}

/** Resolves at the end of a composition: an area that goes before takes the unfinished text from the input method. */
function ended(area: HTMLTextAreaElement): Promise<void> {
  return new Promise((resolve) => {
    area.addEventListener("compositionend", () => resolve(), { once: true });
  });
}

function shown(sentence: string): string {
  return safe(sentence, { max: 1000 }).text;
}

/** The files of a drag. A browser shows a dropped file in the place of the page, and the editor inserts it, unless it is held. */
function hold(event: DragEvent): readonly File[] {
  if (event.dataTransfer?.types.includes("Files") !== true) return [];
  event.preventDefault();
  event.stopPropagation();
  return [...event.dataTransfer.files];
}

/** The browser scrolls to the cursor of an area that gets the focus. */
function goTo(area: HTMLTextAreaElement, { line, column }: Place): void {
  const at = [...area.value.split("\n", line - 1), ""].join("\n").length + column - 1;
  area.setSelectionRange(at, at);
  area.focus();
}
