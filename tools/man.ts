// Writes the man pages: npm run man [folder, dist/man by default]. Their date is that of the commit, so that the same
// sources make the same pages.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { manPages } from "./docs/man.ts";

const root = process.cwd();
const folder = join(resolve(process.argv[2] ?? join(root, "dist", "man")), "man1");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// A package inside another repository does not belong to its commit.
const isCheckout = existsSync(join(root, ".git"));
const date = isCheckout
  ? execFileSync("git", ["log", "-1", "--format=%cs"], { cwd: root, encoding: "utf8" }).trim()
  : "";
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const pages = await manPages({ version, date });
for (const [name, text] of pages) writeFileSync(join(folder, name), text);
console.log(`${pages.size} pages in ${folder}`);
