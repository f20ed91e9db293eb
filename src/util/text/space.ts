/** White space as other tools of the ecosystem know it: Unicode's, which is not the same as that of `String.trim`. */
const SPACE = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const AT_START = new RegExp(`^${SPACE}+`);
const ONE = new RegExp(SPACE);

/** The text without white space at both ends. */
export function trimSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ONE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(AT_START, "");
}
