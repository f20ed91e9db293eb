// Prints the measures of the source tree: npm run measures. `npm run measures -- --places` lists what is counted, and
// `npm run measures -- --tighten` lowers the bounds of test/measures.json to the values of now.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bounds, measure, names, overBounds, TITLES, testLines, tightened } from "./measures/tree.ts";

const root = process.cwd();
const file = join(root, "test", "measures.json");
const bounds: Bounds = JSON.parse(readFileSync(file, "utf8"));
const measures = measure(root);
const flags = process.argv.slice(2);

function linesBelow(folder: string): number {
  const below = [...measures.lines].filter(([path]) => `${path}/`.startsWith(`${folder}/`));
  return below.reduce((sum, [, lines]) => sum + lines, 0);
}

function print(title: string, value: number, bound?: number): void {
  console.log(
    `${title.padEnd(86)}${value.toLocaleString("en").padStart(8)}${bound === undefined ? "" : `   at most ${bound}`}`,
  );
}

print("lines of src/ with comments and empty ones, without src/wire/gen and tests", linesBelow("src"));
print("  of them in src/provider", linesBelow("src/provider"));
print("  of them in src/node", linesBelow("src/node"));
print("lines of tests, beside the source and in test/", testLines(root));
for (const name of names(TITLES)) {
  print(TITLES[name], measures.places[name].length, bounds.counts[name]);
  if (flags.includes("--places")) for (const place of measures.places[name]) console.log(`    ${place}`);
}
for (const fault of overBounds(measures, bounds)) console.log(`\ntoo many: ${fault}`);
if (flags.includes("--tighten")) writeFileSync(file, `${JSON.stringify(tightened(measures, bounds), undefined, 2)}\n`);
