import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useContext, useId } from "preact/hooks";
import { Strange } from "../../parts/text.tsx";
import { form as words } from "../../text/form.ts";
import { change, Faults, MAX_NAME, nameFault } from "./change.ts";
import { renameService, setLines, setText } from "./edit.ts";
import type { Field, Lines } from "./model.ts";
import { isWithin, pathText } from "./paths.ts";

interface TextProps {
  readonly label: string;
  readonly field: Field | undefined;
  readonly id?: string;
  /** Goes from the file when it is empty. */
  readonly isOptional?: boolean;
  readonly isNumber?: boolean;
  readonly placeholder?: string;
}

/** A value of the file; nothing where only the text can say it. */
export function TextInput({ label, field, id, isOptional = false, isNumber = false, placeholder }: TextProps) {
  const fault = useFault(pathText(field?.path ?? []));
  if (field === undefined) return null;
  return (
    <Labelled label={label} id={id} fault={fault} isShort={isNumber}>
      {(described) => (
        <input
          {...described}
          value={field.text}
          inputMode={isNumber ? "decimal" : "text"}
          placeholder={placeholder}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={2000}
          onInput={(event) => change(setText(field.path, event.currentTarget.value, isOptional))}
        />
      )}
    </Labelled>
  );
}

interface NameProps {
  readonly name: string;
  /** Names of all services of the file. */
  readonly names: readonly string[];
}

/** The name of a service. The text gets each name that is good; what is typed on the way to one stays in the input. */
export function NameInput({ name, names }: NameProps) {
  const unfinished = useSignal<string | undefined>(undefined);
  const path = pathText(["services", name]);
  const own = useContext(Faults).find((fault) => fault.path === path && nameFault(name, []) !== undefined)?.sentence;
  const others = names.filter((each) => each !== name);
  const take = (typed: string): void => {
    const isGood = nameFault(typed, others) === undefined;
    unfinished.value = isGood ? undefined : typed;
    if (isGood) change(renameService(name, typed));
  };
  const typed = unfinished.value;
  return (
    <Labelled label={words.serviceName} fault={typed === undefined ? own : nameFault(typed, others)}>
      {(described) => (
        <input
          {...described}
          value={typed ?? name}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={MAX_NAME}
          onInput={(event) => take(event.currentTarget.value)}
          onBlur={() => {
            unfinished.value = undefined;
          }}
        />
      )}
    </Labelled>
  );
}

interface LinesProps {
  readonly label: string;
  readonly field: Lines | undefined;
  /** Separated by commas in one line, for lists of short names. */
  readonly isInLine?: boolean;
  readonly placeholder?: string;
}

/** A list of the file. The typed text stays as it was typed while it means the list of the file. */
export function LinesInput({ label, field, isInLine = false, placeholder }: LinesProps) {
  const typed = useSignal("");
  const fault = useFault(pathText(field?.path ?? []));
  if (field === undefined) return null;
  const separator = isInLine ? ", " : "\n";
  const meant = field.lines.join(separator);
  const shown = linesOf(typed.value, isInLine).join(separator) === meant ? typed.value : meant;
  return (
    <Labelled label={label} fault={fault}>
      {(described) => (
        <textarea
          {...described}
          value={shown}
          rows={isInLine ? 1 : rowsOf(shown)}
          placeholder={placeholder}
          autocapitalize="off"
          spellcheck={false}
          maxLength={20_000}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            change(setLines(field.path, linesOf(typed.value, isInLine)));
          }}
        />
      )}
    </Labelled>
  );
}

interface Described {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby"?: string;
}

interface LabelledProps {
  readonly label: string;
  readonly id?: string | undefined;
  readonly fault?: string | undefined;
  readonly isShort?: boolean;
  readonly children: (described: Described) => ComponentChildren;
}

/** An input below its label, with the sentence about its value. */
export function Labelled({ label, id: given, fault, isShort = false, children }: LabelledProps) {
  const own = useId();
  const id = given ?? own;
  const isFaulty = fault !== undefined;
  return (
    <div class={isShort ? "field short" : "field"}>
      <label for={id}>{label}</label>
      {children({ id, "aria-invalid": isFaulty, ...(isFaulty ? { "aria-describedby": `${own}-fault` } : {}) })}
      {isFaulty && (
        <small id={`${own}-fault`} class="bad">
          <Strange text={fault} max={1000} />
        </small>
      )}
    </div>
  );
}

const MAX_ROWS = 12;
const rowsOf = (text: string): number => Math.min(MAX_ROWS, Math.max(2, text.split("\n").length));

function linesOf(text: string, isInLine: boolean): string[] {
  return text.split(isInLine ? /[\s,]+/ : "\n").filter((line) => line.trim() !== "");
}

/** The sentence about a value, or about a part of it. */
function useFault(path: string): string | undefined {
  return useContext(Faults).find((fault) => fault.path === path || isWithin(fault.path, path))?.sentence;
}
