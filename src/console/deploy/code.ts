import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { Annotation, type ChangeSpec, EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  gutterLineClass,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { deploy } from "../text/deploy.ts";
import type { Reading } from "./read.ts";

/** The editor of deployment files: loaded after the text area whose place it takes. */

/** A place of a text, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface EditRequest {
  /** An element without a shadow root. */
  readonly host: HTMLElement;
  readonly area: HTMLTextAreaElement;
  readonly onText: (text: string) => void;
  /** A sentence as the page may show it. */
  readonly shown: (sentence: string) => string;
}

/** An editor in the page. */
export interface Editing {
  /** Takes a text from elsewhere; cursor and history of changes stay. */
  setText(text: string): void;
  /** Marks the lines with faults and warnings. */
  setReading(reading: Reading | undefined): void;
  goTo(place: Place): void;
  focus(): void;
  end(): void;
}

/**
 * Takes the place of a text area, with its text, cursor and focus. The editor stands in a shadow root: only there it sets its
 * styles as sheets of a script, which the policy of the pages allows.
 */
export function edit({ host, area, onText, shown }: EditRequest): Editing {
  host.style.height = `calc(${area.rows}lh + 1.2rem)`;
  host.hidden = false;
  const root = host.attachShadow({ mode: "open" });
  const typed = EditorView.updateListener.of(({ docChanged, state, transactions }) => {
    if (docChanged && !transactions.some((each) => each.annotation(fromOutside))) onText(state.doc.toString());
  });
  const attributes = { "aria-label": area.labels[0]?.textContent ?? "", tabindex: "0" };
  const view = new EditorView({
    root,
    parent: root,
    doc: area.value,
    selection: { anchor: area.selectionStart, head: area.selectionEnd },
    extensions: [EXTENSIONS, EditorView.contentAttributes.of(attributes), limited(area.maxLength), typed],
  });
  view.scrollDOM.scrollTop = area.scrollTop;
  if (document.activeElement === area) view.focus();
  return {
    setText: (text) => setText(view, text),
    setReading: (reading) => view.dispatch({ effects: setMarks.of(marksOf(view.state, reading, shown)) }),
    goTo: (place) => goTo(view, place),
    focus: () => view.focus(),
    end: () => view.destroy(),
  };
}

/** Marks a change that comes from the form, a template or a file. */
const fromOutside = Annotation.define<true>();

/** Gives the editor another text, as the smallest single change, so that the cursor and the history of changes stay. */
function setText(view: EditorView, wanted: string): void {
  const before = view.state.doc.toString();
  const after = wanted.replace(/\r\n?/g, "\n");
  if (before === after) return;
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let tail = 0;
  while (tail < most - from && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const changes = { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
  view.dispatch({ changes, annotations: [fromOutside.of(true), isolateHistory.of("full")] });
}

function goTo(view: EditorView, { line, column }: Place): void {
  const { doc } = view.state;
  const { from, to } = doc.line(Math.max(1, Math.min(line, doc.lines)));
  const anchor = Math.min(from + column - 1, to);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  view.focus();
}

/** Typed and pasted texts are cut where the whole text is as long as it may be. */
function limited(max: number) {
  return [
    EditorView.clipboardInputFilter.of((text) => text.slice(0, max)),
    EditorState.transactionFilter.of((transaction) => {
      const { newDoc, startState } = transaction;
      if (!transaction.isUserEvent("input") || newDoc.length <= max) return transaction;
      let room = max - newDoc.length;
      transaction.changes.iterChanges((_from, _to, _fromNew, _toNew, { length }) => {
        room += length;
      });
      const cut: ChangeSpec[] = [];
      transaction.changes.iterChanges((from, to, _fromNew, _toNew, inserted) => {
        const insert = inserted.slice(0, Math.max(0, Math.min(room, inserted.length)));
        room -= insert.length;
        cut.push({ from, to, insert });
      });
      const changes = startState.changes(cut);
      const selection = { anchor: changes.mapPos(startState.selection.main.to, 1) };
      return { changes, selection, scrollIntoView: true };
    }),
  ];
}

/** Number of a line with a fault or a warning. */
class Marked extends GutterMarker {
  override readonly elementClass: string;

  constructor(elementClass: string) {
    super();
    this.elementClass = elementClass;
  }
}

const MARKS = { faults: new Marked("fault"), warnings: new Marked("warning") };
interface Marks {
  readonly lines: RangeSet<Decoration>;
  readonly numbers: RangeSet<GutterMarker>;
}

/** A text that is typed over others. The browser would join their lines by styles of its own, which the policy refuses. */
const overwriting = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    if (inputType !== "insertText" || data === null || view.composing || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

const setMarks = StateEffect.define<Marks>();

/** Lines with faults or warnings, and their numbers. */
const marks = StateField.define<Marks>({
  create: () => ({ lines: Decoration.none, numbers: RangeSet.empty }),
  update: (now, { changes, effects }) => {
    const next = effects.find((each) => each.is(setMarks));
    if (next !== undefined) return next.value;
    return changes.empty ? now : { lines: now.lines.map(changes), numbers: now.numbers.map(changes) };
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ lines }) => lines),
    gutterLineClass.from(field, ({ numbers }) => numbers),
  ],
});

function marksOf({ doc }: EditorState, reading: Reading | undefined, shown: EditRequest["shown"]): Marks {
  const found = new Map<number, { readonly kind: keyof typeof MARKS; readonly sentences: string[] }>();
  for (const kind of ["faults", "warnings"] as const) {
    for (const { line, sentence } of reading?.[kind] ?? []) {
      const at = doc.line(Math.max(1, Math.min(line, doc.lines))).from;
      const known = found.get(at) ?? { kind, sentences: [] };
      known.sentences.push(sentence);
      found.set(at, known);
    }
  }
  const all = [...found];
  const lineOf = ({ kind, sentences }: (typeof all)[number][1]) => {
    return Decoration.line({ class: MARKS[kind].elementClass, attributes: { title: shown(sentences.join("\n")) } });
  };
  return {
    lines: RangeSet.of(
      all.map(([at, each]) => lineOf(each).range(at)),
      true,
    ),
    numbers: RangeSet.of(
      all.map(([at, { kind }]) => MARKS[kind].range(at)),
      true,
    ),
  };
}

/** Classes of the parts of YAML by the names of their tags; all else has the colour of texts. */
const PARTS = new Map([
  ["definition(propertyName)", "key"],
  ["string", "string"],
  ["lineComment", "comment"],
  ["special(string)", "sign"],
  ["labelName", "sign"],
  ["typeName", "sign"],
]);

const theme = EditorView.theme({
  "&": { height: "100%" },
  // The page draws the outline around the whole.
  "&.cm-focused": { outline: "0" },
  ".cm-scroller": { fontFamily: "inherit", lineHeight: "inherit" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.6rem 0" },
  ".cm-line": { padding: "0 0.8rem" },
  ".cm-gutters": { backgroundColor: "var(--sheet)", borderColor: "var(--line)", color: "var(--soft)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.8rem" },
  ".fault": { backgroundColor: "var(--bad-back)" },
  ".warning": { backgroundColor: "var(--note-back)" },
  ".cm-gutterElement.fault, .cm-gutterElement.warning": { color: "var(--text)", textDecoration: "underline" },
  ".key": { color: "var(--link)" },
  ".string": { color: "var(--good)" },
  ".comment": { color: "var(--soft)" },
  ".sign, .cm-specialChar": { color: "var(--bad)" },
  ".cm-panels": { backgroundColor: "var(--back)", color: "var(--text)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": {
    background: "var(--sheet)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    color: "inherit",
  },
  ".cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-searchMatch": { backgroundColor: "var(--note-back)", outline: "1px solid var(--soft)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--link)" },
});

/** Characters that are not seen, look like a space, or turn the direction of others. */
const UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{Cn}]|[^\P{Zs} ]|[\u115f\u1160\u2800\u3164\uffa0]/u;

const EXTENSIONS = [
  // The Tab key has no binding: it leaves the editor.
  keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
  lineNumbers(),
  history(),
  search(),
  yaml(),
  syntaxHighlighting({ style: (tags) => PARTS.get(String(tags[0])) ?? null }),
  highlightSpecialChars({ addSpecialChars: UNSEEN }),
  EditorState.phrases.of(deploy.editor),
  overwriting,
  marks,
  theme,
];
