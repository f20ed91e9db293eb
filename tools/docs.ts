// Writes the generated pages of docs/reference/. Run it with: npm run docs
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { referencePages } from "./docs/pages.ts";

const root = process.cwd();
const folder = join(root, "docs", "reference");
mkdirSync(folder, { recursive: true });
for (const [name, text] of await referencePages(root)) {
  writeFileSync(join(folder, name), text);
  console.log(`docs/reference/${name}`);
}
