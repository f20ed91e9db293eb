import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A sentence that names an example, and the block with its text. */
const SHOWN = /(`docs\/examples\/([\w-]+\.ts)`[^`]*```ts\n)(.*?)(```)/gs;

/** A page of a guide with every example replaced by its file. `root` is the folder of the checkout. */
export function withExamples(page: string, root: string): string {
  return page.replaceAll(SHOWN, (_, before: string, name: string, _old: string, end: string) => {
    return `${before}${readFileSync(join(root, "docs", "examples", name), "utf8")}${end}`;
  });
}
