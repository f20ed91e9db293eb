/** Keys that lead to one body. */
export type Row = readonly [keys: readonly string[], body: string];

/** The rows, with those of the same body merged, in order; rows for every place (`*`) come last. */
export function casesOf(rows: readonly Row[]): Row[] {
  const isGeneral = ([keys]: Row): boolean => keys.some((key) => key.startsWith("*"));
  return [...joined(rows.filter((row) => !isGeneral(row))), ...joined(rows.filter(isGeneral))];
}

function joined(rows: readonly Row[]): Row[] {
  const keysByBody = new Map<string, string[]>();
  for (const [keys, body] of rows) keysByBody.set(body, [...(keysByBody.get(body) ?? []), ...keys]);
  return [...keysByBody].map(([body, keys]) => [keys, body]);
}

/** A text in the single quotes of bash and zsh. */
export function shQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text in the single quotes of fish, where a backslash escapes. */
export function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** A key as a pattern; a star in front stays a wildcard. */
export function pattern(key: string, quote: (text: string) => string): string {
  return key.startsWith("*") ? `*${quote(key.slice(1))}` : quote(key);
}
