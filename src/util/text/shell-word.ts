const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word quoted for a POSIX shell, so that a path with spaces can be copied from a remedy. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
