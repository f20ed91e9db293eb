// Keeps the code that V8 compiled for the built program while it ran some everyday commands:
// node tools/run.mjs tools/code-cache.ts <the program's file>
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeCachePath, compileCached, evaluate } from "../src/cli/code-cache.ts";
import { createIo } from "../src/cli/io.ts";

const [, , path = ""] = process.argv;
const cache = codeCachePath(path);
rmSync(cache, { force: true });
const script = compileCached(path);
const { runProgram }: Partial<typeof import("../src/cli/main.ts")> = evaluate(script, path);
if (runProgram === undefined) throw new Error(`${path} does not hold the program`);

const home = mkdtempSync(join(tmpdir(), "svc-code-cache-"));
try {
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" };
  const svc = async (words: string): Promise<string> => {
    const written = { out: "", err: "" };
    const output = { write: (text: string) => (written.out += text) };
    const error = { write: (text: string) => (written.err += text) };
    const code = await runProgram(words.split(" "), { env, io: createIo({ input: process.stdin, output, error }) });
    if (code !== 0) throw new Error(`svc ${words}: ${written.err}`);
    return written.out;
  };
  const unsigned = join(home, "unsigned.json");
  await svc("keys add me");
  const address = (await svc("keys show me -a")).trim();
  await svc("keys list");
  writeFileSync(
    unsigned,
    await svc(`tx bank send ${address} ${address} 1utoken --chain-id svc-1 --generate-only --offline`),
  );
  await svc(`tx sign ${unsigned} --chain-id svc-1 --from me --offline -a 1 -s 0`);
  await svc("--help");
  writeFileSync(`${cache}.tmp`, script.createCachedData());
  renameSync(`${cache}.tmp`, cache);
} finally {
  rmSync(home, { recursive: true, force: true });
}
