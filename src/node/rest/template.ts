import { assert } from "../../util/index.ts";

/** One step of a path: a literal word, one segment, or all remaining segments. */
export type Step =
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "one"; readonly field: string }
  | { readonly kind: "rest"; readonly field: string };

/**
 * The steps of a path template of `google.api.http`: `/a/{b}/c`, `{name=*}` and, in the last place, `{name=**}`. A
 * field may be one of a message: `{id.owner}`. Templates within a variable and verbs after a colon are not in use.
 */
export function parseTemplate(template: string): readonly Step[] {
  assert(template.startsWith("/"), `the path ${template} begins with a slash`);
  const steps = template.slice(1).split("/").map(parseStep);
  assert(!steps.slice(0, -1).some(({ kind }) => kind === "rest"), `** stands last in ${template}`);
  return steps;
}

function parseStep(text: string): Step {
  const [, field, form = "*"] = /^\{([\w.]+)(?:=(\*\*?))?\}$/.exec(text) ?? [];
  if (field !== undefined) return { kind: form === "**" ? "rest" : "one", field };
  assert(/^[\w.-]+$/.test(text), `${text} is not a step of a path`);
  return { kind: "word", word: text };
}

/** The template with only names in its braces, as OpenAPI writes it. */
export function formatTemplate(steps: readonly Step[]): string {
  return `/${steps.map((step) => (step.kind === "word" ? step.word : `{${step.field}}`)).join("/")}`;
}
