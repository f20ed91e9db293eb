/** Short texts that change what YAML around them means, for tests that put them into files. */
export const YAML_PIECES: readonly string[] = [
  ...["\n", "  ", ": ", "- ", "[", "{", "}", "&a ", "*a", "<<: ", "!!x ", "---\n", "null", "'", '"', "|\n"],
  ...["0", "-1", "1e9", "99999999999999999999", "true", "__proto__: 1\n", "constructor", "\u2028", "\u0000"],
];
