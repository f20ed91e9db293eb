// Writes the generated pages of docs/reference/, and the examples into the guides. Run it with: npm run docs
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withExamples } from "./docs/examples.ts";
import { referencePages } from "./docs/pages.ts";

const root = process.cwd();
const folder = join(root, "docs", "reference");
mkdirSync(folder, { recursive: true });
for (const [name, text] of await referencePages(root)) {
  writeFileSync(join(folder, name), text);
  console.log(`docs/reference/${name}`);
}
const guides = join(root, "docs", "guides");
for (const name of readdirSync(guides).filter((each) => each.endsWith(".md"))) {
  const text = readFileSync(join(guides, name), "utf8");
  const shown = withExamples(text, root);
  if (shown !== text) writeFileSync(join(guides, name), shown);
}
