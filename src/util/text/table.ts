import { largest } from "../lists.ts";

/** Rows of text in columns, two spaces apart; the last column is not padded. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const columns = largest(
    rows.map((row) => row.length),
    0,
  );
  const widths = Array.from({ length: columns }, (_, at) =>
    largest(
      rows.map((row) => (row[at] ?? "").length),
      0,
    ),
  );
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}
