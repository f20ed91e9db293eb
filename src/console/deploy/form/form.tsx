import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Strange } from "../../parts/text.tsx";
import { form as words } from "../../text/form.ts";
import { draft } from "../draft.ts";
import type { Reading, Remark } from "../read.ts";
import { change, Faults, MAX_NAME, NEW_SERVICE, nameFault } from "./change.ts";
import { addService } from "./edit.ts";
import { Labelled } from "./inputs.tsx";
import { readForm, type SdlForm } from "./model.ts";
import { isWithin } from "./paths.ts";
import { Service } from "./service.tsx";

const EMPTY: SdlForm = { services: [], names: [], textOnly: [], shown: new Set() };

/** The deployment file as a form. The text decides: the form shows what it says, and changes it in its place. */
export function Form({ reading }: { reading: ReadonlySignal<Reading | undefined> }) {
  const last = useRef(EMPTY);
  const form = useComputed(() => readForm(draft.value.text)).value;
  if (form !== undefined) last.current = form;
  const faults = reading.value?.faults ?? [];
  const fault = faults.find(({ path }) => form === undefined || !isMendable(path, form));
  const shown = form ?? last.current;
  return (
    <section class="form" aria-label={words.name}>
      <Disabled fault={fault} isUnread={form === undefined} />
      <fieldset class="whole" disabled={fault !== undefined || form === undefined}>
        <Faults.Provider value={faults}>
          {/* A service that is renamed keeps its inputs, and so the focus. */}
          {shown.services.map((service, i) => (
            <Service key={i} service={service} names={shown.names} id={`service-${i}`} />
          ))}
        </Faults.Provider>
        <NewService names={shown.names} />
      </fieldset>
      <TextOnly paths={shown.textOnly} />
    </section>
  );
}

/** Whether a fault is about something that the form shows, or that holds something of it. */
function isMendable(path: string, { shown }: SdlForm): boolean {
  if (path === "" || shown.has(path)) return path !== "";
  return [...shown].some((each) => isWithin(each, path) || isWithin(path, each));
}

function Disabled({ fault, isUnread }: { fault: Remark | undefined; isUnread: boolean }) {
  return (
    <div aria-live="polite">
      {(fault !== undefined || isUnread) && (
        <p class="notice">
          {words.disabled} {fault !== undefined && <Strange text={fault.sentence} max={1000} />}
        </p>
      )}
    </div>
  );
}

function NewService({ names }: { names: readonly string[] }) {
  const typed = useSignal("");
  const name = typed.value.trim();
  const fault = name === "" ? undefined : nameFault(name, names);
  const add = (event: SubmitEvent): void => {
    event.preventDefault();
    if (name === "" || fault !== undefined) return;
    change(addService(name), `service-${names.length}-image`);
    typed.value = "";
  };
  return (
    <form class="added" onSubmit={add}>
      <Labelled label={words.newService} id={NEW_SERVICE} fault={fault}>
        {(described) => (
          <input
            {...described}
            value={typed}
            maxLength={MAX_NAME}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="web"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        )}
      </Labelled>
      <button type="submit" disabled={name === "" || fault !== undefined}>
        {words.addService}
      </button>
    </form>
  );
}

/** Parts of the file that the form keeps and does not show. */
function TextOnly({ paths }: { paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return (
    <details class="text-only">
      <summary>{words.textOnly(paths.length)}</summary>
      <ul>
        {paths.slice(0, 200).map((path) => (
          <li key={path}>
            <Strange text={path} isName max={200} />
          </li>
        ))}
      </ul>
    </details>
  );
}
