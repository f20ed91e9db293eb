import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import type { Place } from "./code.ts";
import { draft, type Found, open, openFault, replaceBy, type } from "./draft.ts";
import { FileText } from "./file-text.tsx";
import type { Reading } from "./read.ts";

/** Deployment files to begin with: those of the checkout, each loaded when it is wanted. */
const TEMPLATES = [
  { title: deploy.template.web, name: "web.yaml", load: () => import("../../../examples/web.yaml") },
  {
    title: deploy.template.twoServices,
    name: "two-services.yaml",
    load: () => import("../../../examples/two-services.yaml"),
  },
  {
    title: deploy.template.persistent,
    name: "persistent.yaml",
    load: () => import("../../../examples/persistent.yaml"),
  },
] as const;

const text = computed(() => draft.value.text);
const place = signal<Place | undefined>(undefined);

/** The deployment file as a text. */
export function Editor({ reading }: { reading: ReadonlySignal<Reading | undefined> }) {
  return (
    <div class="text">
      <FileText text={text} reading={reading} place={place} rows={24} onText={type} onFile={take} />
      <OpenFault />
    </div>
  );
}

/** Puts the cursor at a place of the text, counted from 1. */
export function goTo(line: number, column: number): void {
  place.value = { line, column };
}

/** Ways to begin a deployment file. */
export function Beginnings() {
  return (
    <div class="beginnings">
      <span>{deploy.templates}</span>
      {TEMPLATES.map((template) => (
        <button key={template.name} type="button" onClick={() => void replaceBy(begin(template))}>
          {template.title}
        </button>
      ))}
      <label>
        {deploy.open}{" "}
        <input type="file" accept=".yaml,.yml" onChange={(event) => take(event.currentTarget.files?.[0])} />
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

async function begin({ name, load }: (typeof TEMPLATES)[number]): Promise<Found> {
  return { name, text: (await load()).default };
}

function take(file: File | undefined): void {
  if (file !== undefined) void replaceBy(open(file));
}
