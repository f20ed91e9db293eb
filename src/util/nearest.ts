/** Longer words are not typing mistakes, and comparing costs the product of the lengths. */
const MAX_WORD = 64;
/** Candidates that are looked at by default: deployment files may name any number. */
const MAX_CANDIDATES = 100;

/** The candidate that was probably meant: equal but for case and dashes, or at most a few slips away. */
export function nearest(word: string, candidates: Iterable<string>, most = MAX_CANDIDATES): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const folded = fold(word);
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.floor(folded.length / 3) + 1);
  let tried = 0;
  for (const candidate of candidates) {
    if (tried++ === most) break;
    const distance = editDistance(folded, fold(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean "expose"?`, or the other remedy. */
export function didYouMean(word: string, candidates: Iterable<string>, otherwise: string): string {
  const found = nearest(word, candidates);
  return found === undefined ? otherwise : `did you mean "${found}"?`;
}

function fold(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; `limit` or more is not exact. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const equal = a[i - 1] === b[j - 1];
      let cost = Math.min(at(row, j - 1) + 1, at(last, j) + 1, at(last, j - 1) + (equal ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
