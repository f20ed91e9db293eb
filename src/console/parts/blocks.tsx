import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type Answer, latest } from "../live/ask.ts";
import { session } from "../live/chain.ts";
import { link, route } from "../live/route.ts";
import { t } from "../text/index.ts";
import { Fault } from "./fault.tsx";
import { commandLine, MAX_ITEMS } from "./safe.ts";
import { None } from "./text.tsx";

/** Content that needs an answer of the node: it says that it waits, or why nothing, or nothing newer, is known. */
export function Known<T>({
  answer,
  children,
}: {
  answer: Signal<Answer<T>>;
  children: (value: T) => ComponentChildren;
}) {
  const { value } = answer;
  if (value.kind === "waiting") return <p class="waiting">{t.state.loading} …</p>;
  const found = latest(value);
  return (
    <>
      {value.kind === "unknown" && <Fault error={value.error} />}
      {found !== undefined && children(found.value)}
    </>
  );
}

/** A titled part of a page. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface ItemsProps<T> {
  readonly of: readonly T[];
  readonly children: (item: T, index: number) => ComponentChildren;
}

/** Items of a list that a stranger may have made; long ones end with the number left out. */
export function Items<T>({ of, children }: ItemsProps<T>) {
  return (
    <>
      {of.slice(0, MAX_ITEMS).map(children)}
      {of.length > MAX_ITEMS && <em class="cut">{t.value.items(of.length - MAX_ITEMS)}</em>}
    </>
  );
}

/** Names and values. A value that is undefined is left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === "" ? <None /> : value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A column: its head, and whether its values are numbers, which stand to the right. */
export type Column = string | { readonly head: string; readonly isNumber: true };

const headOf = (column: Column): string => (typeof column === "string" ? column : column.head);
const classOf = (column: Column | undefined): string | undefined => (typeof column === "object" ? "right" : undefined);

interface TableProps<T> {
  readonly columns: readonly Column[];
  readonly rows: readonly T[];
  readonly name: string;
  readonly keyOf: (row: T) => string;
  readonly cells: (row: T) => readonly ComponentChildren[];
}

/** A table that scrolls by itself on narrow screens; long lists end with the number of rows left out. */
export function Table<T>({ columns, rows, name, keyOf, cells }: TableProps<T>) {
  if (rows.length === 0) return <p class="none">{t.state.none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keys.
    <section class="scroll" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={headOf(column)} scope="col" class={classOf(column)}>
                {headOf(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ITEMS).map((row) => (
            <tr key={keyOf(row)}>
              {cells(row).map((cell, i) => (
                <td key={headOf(columns[i] ?? "")} class={classOf(columns[i])}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ITEMS && <p class="cut">{t.value.items(rows.length - MAX_ITEMS)}</p>}
    </section>
  );
}

/** Links to the next page of a list and back to its start; the key of the page is in the address. */
export function Pages({ next }: { next: Uint8Array | undefined }) {
  const { words, search } = route.value;
  const isFirst = !search.has("after");
  const more = new URLSearchParams(search);
  if (next !== undefined) more.set("after", Array.from(next, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  const start = new URLSearchParams(search);
  start.delete("after");
  if (isFirst && (next === undefined || next.length === 0)) return null;
  return (
    <p class="pages">
      {!isFirst && <a href={`${link(...words)}?${start}`}>{t.state.newest}</a>}
      {next !== undefined && next.length > 0 && <a href={`${link(...words)}?${more}`}>{t.state.more}</a>}
    </p>
  );
}

/** The key of the page of a list that the address names. */
export function pageKey(): Uint8Array<ArrayBuffer> {
  const text = route.value.search.get("after") ?? "";
  const isHex = /^(?:[0-9a-f]{2}){0,512}$/.test(text);
  return new Uint8Array(isHex ? (text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)) : []);
}

interface CommandProps {
  readonly words: readonly (string | bigint | number)[];
  /** `svc query` unless given. */
  readonly program?: string;
  /** Commands that ask no node take no `--node`. */
  readonly asksNode?: boolean;
}

/** The command line that shows the same facts, to be copied. */
export function Command({ words, program = "svc query", asksNode = true }: CommandProps) {
  const isCopied = useSignal(false);
  const node = asksNode && session.value?.mode === "console" ? session.value.node : undefined;
  const line = commandLine(program, words, node);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(line);
    isCopied.value = true;
  };
  return (
    <p class="command">
      <span>{t.command.label}</span>
      <code>{line}</code>
      <button type="button" onClick={() => void copy().catch(() => undefined)}>
        {isCopied.value ? t.command.copied : t.command.copy}
      </button>
    </p>
  );
}
