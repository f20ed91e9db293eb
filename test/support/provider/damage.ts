import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";

/** From 0 to below the count. */
type Pick = (count: number) => number;

const FLIPS = 4;

/** Damages a file like a faulty disk; returns a description. */
export function damageFile(path: string, pick: Pick): string {
  const { length } = readFileSync(path);
  switch (pick(length === 0 ? 2 : 4)) {
    case 0:
      rmSync(path);
      return "lost";
    case 1:
      rmSync(path);
      mkdirSync(path);
      return "unreadable";
    case 2: {
      const left = pick(length);
      truncateSync(path, left);
      return `cut to ${left} of ${length} bytes`;
    }
    default:
      return flipBits(path, pick);
  }
}

/** Changes some bits of a file that is not empty. */
export function flipBits(path: string, pick: Pick): string {
  const bytes = readFileSync(path);
  const places = Array.from({ length: 1 + pick(FLIPS) }, () => pick(bytes.length));
  for (const place of places) bytes[place] = (bytes[place] ?? 0) ^ (1 << pick(8));
  writeFileSync(path, bytes);
  return `changed at ${places.join(", ")}`;
}
