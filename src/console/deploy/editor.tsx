import { computed } from "@preact/signals";
import persistent from "../../../examples/persistent.yaml";
import twoServices from "../../../examples/two-services.yaml";
import web from "../../../examples/web.yaml";
import { Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { draft, open, openFault, replace, type } from "./draft.ts";

/** Deployment files to begin with: those of the checkout. */
const TEMPLATES = [
  { title: deploy.template.web, name: "web.yaml", text: web },
  { title: deploy.template.twoServices, name: "two-services.yaml", text: twoServices },
  { title: deploy.template.persistent, name: "persistent.yaml", text: persistent },
] as const;

const EDITOR = "deployment-file";
/** One character more than may be read, which shows that a text is too large; ten million line ends would stop the page. */
const MAX_TYPED = 65_537;
const GUTTER = "deployment-file-lines";

const text = computed(() => draft.value.text);
const numbers = computed(() => {
  const lines = text.value.split("\n").length;
  return Array.from({ length: lines }, (_, i) => i + 1).join("\n");
});

/** The deployment file as a text. */
export function Editor() {
  return (
    <div class="text">
      <label for={EDITOR}>{deploy.file}</label>
      <div class="editor">
        <pre id={GUTTER} aria-hidden="true">
          {numbers}
        </pre>
        <textarea
          id={EDITOR}
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
          onDragOver={hold}
          onDrop={drop}
          onScroll={(event) => follow(event.currentTarget.scrollTop)}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          wrap="off"
          rows={24}
          maxLength={MAX_TYPED}
        />
      </div>
      <OpenFault />
    </div>
  );
}

/** Ways to begin a deployment file. */
export function Beginnings() {
  return (
    <div class="beginnings">
      <span>{deploy.templates}</span>
      {TEMPLATES.map(({ title, ...file }) => (
        <button key={title} type="button" onClick={() => replace(file)}>
          {title}
        </button>
      ))}
      <label>
        {deploy.open} <input type="file" accept=".yaml,.yml" onChange={(event) => take(event.currentTarget.files)} />
      </label>
      <small>{deploy.drop}</small>
    </div>
  );
}

function OpenFault() {
  const sentence = openFault.value;
  return (
    <div aria-live="polite">
      {sentence !== undefined && (
        <p class="notice bad">
          <Strange text={sentence} max={1000} />
        </p>
      )}
    </div>
  );
}

/** A browser opens a dropped file in the place of the page unless it is held. */
function hold(event: DragEvent): void {
  if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
}

function drop(event: DragEvent): void {
  hold(event);
  take(event.dataTransfer?.files);
}

function take(files: FileList | null | undefined): void {
  const file = files?.[0];
  if (file === undefined) return;
  open(file).catch((error: unknown) => {
    openFault.value = String(error);
  });
}

/** Line numbers scroll with the text. */
function follow(top: number): void {
  const gutter = document.getElementById(GUTTER);
  if (gutter !== null) gutter.scrollTop = top;
}

/** Puts the cursor at a place of the text, counted from 1. */
export function goTo(line: number, column: number): void {
  const editor = document.getElementById(EDITOR);
  if (!(editor instanceof HTMLTextAreaElement)) return;
  const before = editor.value.split("\n").slice(0, line - 1);
  const at = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  editor.focus();
  editor.setSelectionRange(at, at);
  const height = editor.scrollHeight / Math.max(1, editor.value.split("\n").length);
  editor.scrollTop = Math.max(0, (line - 4) * height);
}
