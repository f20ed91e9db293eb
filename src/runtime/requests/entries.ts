import { errorText } from "../../util/index.ts";

/**
 * Faults of a list in a genesis state, one sentence for each bad entry: `providers[3]: ...`. `identify` throws if it
 * refuses an entry; otherwise it returns an identity that the list may contain once.
 */
export function entryProblems<T>(name: string, list: readonly T[], identify: (entry: T) => string): string[] {
  const seen = new Set<string>();
  return list.flatMap((entry, i) => {
    try {
      const id = identify(entry);
      if (seen.has(id)) return [`${name}[${i}]: ${id} appears twice`];
      seen.add(id);
      return [];
    } catch (error) {
      return [`${name}[${i}]: ${errorText(error)}`];
    }
  });
}
