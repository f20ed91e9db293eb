// Man pages from the command table: one for each group and each command, as most tools of several commands have. They say
// what --help says.
import { allFlags, usageForm } from "../../src/cli/command/command-line.ts";
import type { FlagSpec } from "../../src/cli/command/flag-spec.ts";
import { envName } from "../../src/cli/command/flags.ts";
import { GLOBAL_HEADING } from "../../src/cli/command/global-flags.ts";
import type { CommandSpec } from "../../src/cli/command/spec.ts";
import { TOPICS } from "../../src/cli/help/topics.ts";
import { ROOT } from "../../src/cli/root.ts";

/** A group or a command, and the words that name it. */
interface Entry {
  readonly words: readonly string[];
  readonly spec: CommandSpec;
  readonly children: readonly CommandSpec[];
}

const FILES = `.SH FILES
.TP
.I ~/.svc
Home of the command: settings, keys, certificates and the data of a node; another with
.B \\-\\-home
or
.BR SVC_HOME .
.TP
.I ~/.svc/config/client.toml
Settings of the command; see
.BR svc\\-config (1).
.SH EXIT STATUS
0 done; 1 refused or failed; 2 wrong usage; 3 a program is missing; 130 interrupted.
`;

async function entriesOf(spec: CommandSpec, words: readonly string[]): Promise<Entry[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => entriesOf(child, [...words, child.name])));
  return [{ words, spec, children }, ...below.flat()];
}

/** Text in roff: a dash stays a dash that can be searched for, lists of a word break, and no line begins with a request. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/,(?=\S)/g, ",\\:")
    .replace(/^([.'])/gm, "\\&$1");
}

function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}

/** The foot of the pages. */
export interface ManFoot {
  readonly version: string;
  /** YYYY-MM-DD, of the sources; empty if unknown. */
  readonly date: string;
}

/** The pages of section 1, by their file names. */
export async function manPages(foot: ManFoot): Promise<Map<string, string>> {
  const entries = await entriesOf(ROOT, [ROOT.name]);
  return new Map(entries.map((entry) => [`${entry.words.join("-")}.1`, pageOf(entry, foot)]));
}

function pageOf({ words, spec, children }: Entry, { version, date }: ManFoot): string {
  const name = words.join("-");
  const parts = [
    `.TH ${name.toUpperCase()} 1 "${date}" "svc ${version}" "svc"\n.nh\n.ad l\n`,
    section("NAME", `${roff(name)} \\- ${roff(spec.summary.replace(/\.$/, ""))}`),
    section("SYNOPSIS", `${bold(words.join(" "))} ${roff(usageForm(spec))}`),
    description(spec),
    ...commandSections(words, children),
    ...flagSections(spec),
    spec.example === undefined ? "" : section("EXAMPLES", `.EX\n${roff(spec.example)}\n.EE`),
    words.length === 1 ? topics() + FILES : "",
    section("SEE ALSO", seeAlso(words, children)),
  ];
  return parts.filter((part) => part !== "").join("");
}

function section(title: string, text: string): string {
  return `.SH ${title}\n${text}\n`;
}

function description({ summary, aliases = [], load }: CommandSpec): string {
  const other = aliases.length === 0 ? [] : [`Other names: ${aliases.map(bold).join(", ")}.`];
  const settings =
    "A flag that is not written is read from its environment variable, then from the settings of the home, and has its default where neither is set.";
  return section(
    "DESCRIPTION",
    [`${roff(summary.replace(/\.$/, ""))}.`, ...other, ...(load === undefined ? [] : [settings])].join("\n"),
  );
}

function commandSections(words: readonly string[], children: readonly CommandSpec[]): string[] {
  const headings = [...new Set(children.map(({ heading }) => heading))];
  return headings.map((heading) => {
    const here = children.filter((child) => child.heading === heading);
    const rows = here.map((child) => `.TP\n${bold([...words, child.name].join(" "))}\n${roff(child.summary)}`);
    return section(upper(heading ?? "Commands"), rows.join("\n"));
  });
}

/** Flags under the headings of the help, global ones last. Groups have none of their own. */
function flagSections(spec: CommandSpec): string[] {
  if (spec.load === undefined) return [];
  const flags = allFlags(spec).filter(({ hidden }) => hidden !== true);
  const groups = [...new Set(flags.map(headingOf))].toSorted((a, b) => rank(a) - rank(b));
  return groups.map((group) => {
    const rows = flags.filter((flag) => headingOf(flag) === group).map(flagRow);
    return section(upper(group), rows.join("\n"));
  });
}

function headingOf({ group = "Options" }: FlagSpec): string {
  return group;
}

function rank(group: string): number {
  return ["Options", GLOBAL_HEADING].indexOf(group) === -1 ? 1 : group === GLOBAL_HEADING ? 2 : 0;
}

function upper(heading: string): string {
  return heading.replace(/:$/, "").toUpperCase();
}

function flagRow(flag: FlagSpec): string {
  const names = [flag.short === undefined ? "" : `-${flag.short}`, `--${flag.name}`].filter((name) => name !== "");
  const value = flag.value === undefined ? "" : ` \\fI${roff(flag.value)}\\fR`;
  const choices = flag.choices === undefined ? "" : `: ${flag.choices.join(", ")}`;
  const repeat = flag.repeat === true ? "; may be given several times" : "";
  const initial = flag.default === undefined || flag.default === "" ? "" : ` (default ${flag.default})`;
  const text = roff(`${flag.summary}${choices}${repeat}${initial}`);
  return `.TP\n${names.map(bold).join(", ")}${value}\n${text} [${envName(flag.name)}]`;
}

function topics(): string {
  const rows = TOPICS.map(({ name, summary }) => `.TP\n${bold(`svc help ${name}`)}\n${roff(summary)}`);
  return section("GUIDES", rows.join("\n"));
}

function seeAlso(words: readonly string[], children: readonly CommandSpec[]): string {
  const parents = words.slice(0, -1).map((_, at) => words.slice(0, at + 1).join("-"));
  const pages = [...parents, ...children.map(({ name }) => [...words, name].join("-"))];
  return [...pages.map((page) => `.BR ${roff(page)} (1)`)].join(",\n");
}
