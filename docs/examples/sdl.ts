// Reads a deployment file: its hash, its groups and their highest price, or everything that is wrong with it.
// node tools/run.mjs docs/examples/sdl.ts <file>
import { readFileSync } from "node:fs";
import { formatIssue, formatPrice, groupPrice, loadSdl, SdlError } from "svc/sdl";
import { toHex } from "svc/wire";

const [file = ""] = process.argv.slice(2);
try {
  const { groups, hash, warnings } = loadSdl(readFileSync(file, "utf8"), { file });
  console.log(`hash ${toHex(hash)}`);
  for (const group of groups) console.log(`group ${group.name}: at most ${formatPrice(groupPrice(group))} per block`);
  for (const warning of warnings) console.error(formatIssue(warning));
} catch (error) {
  if (!(error instanceof SdlError)) throw error;
  for (const issue of error.issues) console.error(formatIssue(issue));
  process.exitCode = 1;
}
