import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { didYouMean, largest, readFileText } from "../../util/index.ts";
import type { Run } from "../command/spec.ts";
import { commandError, usageError } from "../errors.ts";
import { printAs } from "../terminal/output.ts";
import { LIST, TOPICS, type Topic, type TopicPart } from "./topics.ts";

const MAX_GUIDE_BYTES = 1024 * 1024;
const FENCE = /^\s*```/;
const HEADING = /^(#+) (.*)/;

/** `svc help TOPIC`: a guide of the installation in its Markdown, in the user's pager if the output is a terminal. */
export const help: Run = async ({ args: [name = LIST], flags, io }) => {
  if (name === LIST) return printAs({ flags, io }, TOPICS.map(listed), list());
  const topic = TOPICS.find((each) => each.name === name);
  if (topic === undefined) {
    const names = TOPICS.map((each) => each.name);
    throw usageError(`no guide has the name "${name}"`, didYouMean(name, names, `see: svc help ${LIST}`));
  }
  const markdown = topic.parts.map(readPart).join("\n");
  const isText = flags.text("output") !== "json";
  if (isText && io.columns !== undefined && (await page(markdown))) return;
  printAs({ flags, io }, { ...listed(topic), markdown }, markdown);
};

function listed({ name, summary }: Topic): { readonly topic: string; readonly summary: string } {
  return { topic: name, summary };
}

function list(): string {
  const width = largest(
    TOPICS.map(({ name }) => name.length),
    0,
  );
  return TOPICS.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}\n`).join("");
}

function readPart({ guide, section }: TopicPart): string {
  const path = guidePath(guide);
  const hint = "install svc again, or read the guides of its source";
  if (!existsSync(path)) throw commandError(`the installation has no guide ${path}`, { hint });
  const text = readFileText(path, { maxBytes: MAX_GUIDE_BYTES });
  const part = section === undefined ? text : sectionOf(text, section);
  if (part === undefined) throw commandError(`${path} has no section "${section}"`, { hint });
  return part;
}

/** The lines of a section of Markdown: its heading and all up to the next heading of its level or a higher one. */
export function sectionOf(markdown: string, title: string): string | undefined {
  const lines: string[] = [];
  let level = 0;
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    const [, marks = "", text] = (isCode ? undefined : HEADING.exec(line)) ?? [];
    if (level > 0 && marks !== "" && marks.length <= level) break;
    if (level === 0 && text === title) level = marks.length;
    if (level > 0) lines.push(line);
  }
  return level === 0 ? undefined : `${lines.join("\n").trimEnd()}\n`;
}

/** A guide beside the built program, whose folder is `dist/`, or in a checkout, where the sources lie. */
export function guidePath(guide: string, from: string = import.meta.url): string {
  const folder = from.endsWith("/svc.cjs") ? "../docs/guides/" : "../../../docs/guides/";
  return fileURLToPath(new URL(`${folder}${guide}`, from));
}

/** Not found, or not to be executed: exit codes of a shell. */
const NO_PAGER = [126, 127];

/** Shows text in $PAGER; false if there is none. */
function page(text: string): Promise<boolean> {
  const { PAGER, LESS = "FRX", ...env } = process.env;
  if (PAGER === "") return Promise.resolve(false);
  const line = PAGER ?? "command -v less >/dev/null || exit 127; exec less";
  // Ctrl-C in a pager ends a search, not the pager.
  const stay = (): void => {};
  process.on("SIGINT", stay);
  return new Promise<boolean>((resolve) => {
    const child = spawn(line, { shell: true, stdio: ["pipe", "inherit", "inherit"], env: { ...env, LESS } });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === null || !NO_PAGER.includes(code)));
    // A pager that is left early reads no further.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  }).finally(() => process.off("SIGINT", stay));
}
