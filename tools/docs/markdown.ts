/** Pieces of Markdown pages. */

export const GENERATED = "<!-- Made by `npm run docs`; changes are made at the source. -->";

/** A page from its parts, with one empty line between them. */
export function page(title: string, parts: readonly string[]): string {
  return `${[`# ${title}`, GENERATED, ...parts.filter((part) => part !== "")].join("\n\n")}\n`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

export function codeBlock(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

/** The anchor that renderers make from a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(/\s/g, "-");
}

export function link(text: string, target: string): string {
  return `[${text}](${target})`;
}
