/** How programs of tenants ended, in the same words whatever runs them. */

/** The sentence for a program that ended by itself. */
export function endedText(exitCode: number): string {
  if (exitCode === 0) return "the program ended (exit code 0); services are kept running";
  return `the program ended with exit code ${exitCode}`;
}

/** The sentence for a program that was killed because it wanted more memory than it has, in bytes. */
export function outOfMemoryText(memory: bigint, exitCode: number, isGuess = false): string {
  const limit = `for reaching the memory limit of ${shownBytes(memory)} (exit code ${exitCode})`;
  return `killed${isGuess ? ", most likely" : ""} ${limit}: give its profile more memory`;
}

/** An amount of bytes for people. */
export function shownBytes(bytes: bigint): string {
  const mebibytes = Number(bytes) / (1 << 20);
  return mebibytes >= 1 ? `${Math.round(mebibytes * 10) / 10} MiB` : `${bytes} bytes`;
}
