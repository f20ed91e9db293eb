const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as it is typed in a POSIX shell: a path with spaces in a remedy can be copied. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
