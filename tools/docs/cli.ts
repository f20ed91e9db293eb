import type { FlagSpec } from "../../src/cli/command/flag-spec.ts";
import { envName } from "../../src/cli/command/flags.ts";
import { GLOBAL_FLAGS, GLOBAL_HEADING } from "../../src/cli/command/global-flags.ts";
import type { CommandSpec } from "../../src/cli/command/spec.ts";
import { ROOT } from "../../src/cli/root.ts";
import { anchor, code, codeBlock, link, page, table } from "./markdown.ts";

/** A command that runs, and the words that name it. */
interface Entry {
  readonly words: string;
  readonly spec: CommandSpec;
}

const INTRO = `Every command, with its flags. A flag stands anywhere on the command line. One that is not written is read from its
environment variable, then from \`client.toml\` of the home (\`svc config\`), and has its default where neither is set.

Results go to standard output, everything else to standard error. Exit codes: 0 done; 1 refused or failed; 2 wrong
usage; 130 interrupted. An error is one sentence, with a line \`Hint:\` where there is a remedy.`;

/** The page of the command tree. Flags that many commands share appear once, under the name of their group. */
export async function cliPage(): Promise<string> {
  const entries = await commandsOf(ROOT, "svc");
  const groups = sharedGroups(entries);
  return page("Commands", [
    INTRO,
    contents(entries),
    ...[...groups].flatMap(([name, flags]) => [`## ${name}`, flagTable(flags)]),
    ...entries.flatMap((entry) => section(entry, groups)),
  ]);
}

async function commandsOf(spec: CommandSpec, words: string): Promise<Entry[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => commandsOf(child, `${words} ${child.name}`)));
  const flags = spec.flags?.filter(({ hidden }) => hidden !== true) ?? [];
  return [...(spec.load === undefined ? [] : [{ words, spec: { ...spec, flags } }]), ...below.flat()];
}

/**
 * Flags by the heading under which the help shows them: `Global flags`, `Transaction flags`, ... A command may leave some
 * out or change a default; the form that most commands have is the one described.
 */
function sharedGroups(entries: readonly Entry[]): Map<string, readonly FlagSpec[]> {
  const forms = new Map<string, Map<string, { count: number; readonly flags: readonly FlagSpec[] }>>();
  for (const { spec } of entries) {
    for (const group of new Set(spec.flags?.flatMap((flag) => flag.group ?? []))) {
      const flags = spec.flags?.filter((flag) => flag.group === group) ?? [];
      const known = forms.get(title(group)) ?? new Map();
      forms.set(title(group), known);
      const form = known.get(JSON.stringify(flags)) ?? { count: 0, flags };
      known.set(JSON.stringify(flags), { ...form, count: form.count + 1 });
    }
  }
  const groups = new Map<string, readonly FlagSpec[]>([[title(GLOBAL_HEADING), GLOBAL_FLAGS]]);
  for (const [name, known] of forms) {
    const [most] = [...known.values()].toSorted((a, b) => b.count - a.count);
    groups.set(name, most?.flags ?? []);
  }
  return groups;
}

function title(heading: string): string {
  return heading.replace(/:$/, "");
}

function contents(entries: readonly Entry[]): string {
  return table(
    ["Command", "Does"],
    entries.map(({ words, spec }) => [link(code(words), `#${anchor(words)}`), spec.summary]),
  );
}

function section({ words, spec }: Entry, groups: ReadonlyMap<string, readonly FlagSpec[]>): string[] {
  const flags = spec.flags ?? [];
  const names = [...new Set(flags.flatMap(({ group }) => (group === undefined ? [] : [title(group)])))];
  const also = names.map((name) => link(name.toLowerCase(), `#${anchor(name)}`)).join(", ");
  const own = flags.filter((flag) => flag.group === undefined || !isShared(flag, groups));
  return [
    `## ${words}`,
    `${spec.summary}.`,
    codeBlock([words, spec.args, "[flags]"].filter(Boolean).join(" ")),
    flagTable(own),
    also === "" ? "" : `Also: ${also}.`,
    spec.example === undefined ? "" : `Example:\n\n${codeBlock(spec.example)}`,
  ];
}

/** Whether the flag is described with its group: same text, same default. */
function isShared(flag: FlagSpec, groups: ReadonlyMap<string, readonly FlagSpec[]>): boolean {
  const found = groups.get(title(flag.group ?? ""))?.find(({ name }) => name === flag.name);
  return found !== undefined && found.summary === flag.summary && found.default === flag.default;
}

function flagTable(flags: readonly FlagSpec[]): string {
  return table(["Flag", "Variable", "Default", "Meaning"], flags.map(flagRow));
}

function flagRow(flag: FlagSpec): readonly string[] {
  const spellings = [flag.short === undefined ? "" : `-${flag.short}`, `--${flag.name}`, alias(flag)];
  const names = spellings.filter((name) => name !== "").join(", ");
  const choices = flag.choices === undefined ? "" : `: ${flag.choices.join(", ")}`;
  const repeat = flag.repeat === true ? "; may be given several times" : "";
  return [
    code(`${names}${flag.value === undefined ? "" : ` ${flag.value}`}`),
    code(envName(flag.name)),
    code(flag.default ?? ""),
    `${flag.summary}${choices}${repeat}`,
  ];
}

function alias({ alias: other }: FlagSpec): string {
  return other === undefined ? "" : `--${other}`;
}
