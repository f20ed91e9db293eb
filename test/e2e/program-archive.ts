import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** An archive in that folder with one dynamically linked program of this machine and its libraries. */
export async function programArchive(path: string, folder: string): Promise<string> {
  const { stdout } = await run("ldd", [path]);
  const libraries = [...stdout.matchAll(/\/\S+(?= \(0x)/g)].map((match) => match[0]);
  const archive = join(folder, "program.tar");
  await run("tar", ["--dereference", "--absolute-names", "-cf", archive, path, ...libraries]);
  return archive;
}
