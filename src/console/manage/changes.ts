/** A line of a comparison; `skip` stands for a number of equal lines that are left out. */
export type ChangedLine =
  | { readonly kind: "same" | "gone" | "new"; readonly text: string }
  | { readonly kind: "skip"; readonly count: number };

/** Equal lines that are shown around each change. */
const AROUND = 2;
/** Changed lines of both texts, multiplied, beyond which they are no longer matched with one another. */
const MAX_PAIRS = 1_000_000;

/** The lines by which two texts differ, with a few equal ones around them; empty for equal texts. */
export function changedLines(before: string, after: string): readonly ChangedLine[] {
  if (before === after) return [];
  return shortened(compared(before.split("\n"), after.split("\n")));
}

type WholeLine = Exclude<ChangedLine, { kind: "skip" }>;

/** All lines. Equal beginnings and ends are set aside, so that the rest is small. */
function compared(before: readonly string[], after: readonly string[]): WholeLine[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return [
    ...lines("same", before.slice(0, start)),
    ...(old.length * now.length > MAX_PAIRS ? [...lines("gone", old), ...lines("new", now)] : matched(old, now)),
    ...lines("same", before.slice(before.length - end)),
  ];
}

const lines = (kind: WholeLine["kind"], texts: readonly string[]): WholeLine[] => texts.map((text) => ({ kind, text }));

/** Matches lines by their longest common subsequence. */
function matched(old: readonly string[], now: readonly string[]): WholeLine[] {
  // Lengths of common subsequences of the rests of both texts.
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const result: WholeLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    const [gone = "", added = ""] = [old[i], now[j]];
    if (gone === added) result.push({ kind: "same", text: gone });
    else if (at(i + 1, j) >= at(i, j + 1)) result.push({ kind: "gone", text: gone });
    else result.push({ kind: "new", text: added });
    if (gone === added || result.at(-1)?.kind === "gone") i += 1;
    if (gone === added || result.at(-1)?.kind === "new") j += 1;
  }
  return [...result, ...lines("gone", old.slice(i)), ...lines("new", now.slice(j))];
}

/** Leaves out equal lines away from changes. */
function shortened(all: readonly WholeLine[]): ChangedLine[] {
  const isNear = (at: number): boolean =>
    all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  const result: ChangedLine[] = [];
  for (const [at, line] of all.entries()) {
    const last = result.at(-1);
    if (isNear(at)) result.push(line);
    else if (last?.kind === "skip") result[result.length - 1] = { kind: "skip", count: last.count + 1 };
    else result.push({ kind: "skip", count: 1 });
  }
  return result;
}
