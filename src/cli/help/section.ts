const FENCE = /^\s*```/;
const HEADING = /^(#+) (.*)/;

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
