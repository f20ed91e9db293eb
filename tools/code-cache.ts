// Runs everyday commands of the built program: node tools/run.mjs tools/code-cache.ts <plan>
// The plan is a JSON file: the packs, the first chunk of the program, and the wanted result: `chunks` prints the chunks
// that the commands loaded, first those that need no node, then the others; `code` keeps the code that V8 compiled
// meanwhile.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { codeCachePath, type Pack, Packs } from "../src/cli/code-cache.ts";
import { createIo } from "../src/cli/terminal/io.ts";

interface Plan {
  readonly folder: string;
  readonly packs: readonly Pack[];
  readonly main: number;
  readonly wanted: "chunks" | "code";
}

/** Nothing listens there: commands load what they need for a node, then end. */
const NO_NODE = "tcp://127.0.0.1:1";

const [, , path = ""] = process.argv;
const { folder, packs: files, main, wanted }: Plan = JSON.parse(readFileSync(path, "utf8"));
if (wanted === "code") for (const { file } of files) rmSync(codeCachePath(join(folder, file)), { force: true });
const require = createRequire(resolve(folder, "svc.cjs"));
const open = (): Packs => new Packs(files, { folder, require });
/** The measured program, and one that makes its keys and its transaction, which have needs of their own. */
const [packs, maker] = [open(), open()];

const home = mkdtempSync(join(tmpdir(), "svc-code-cache-"));
try {
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_NODE: NO_NODE };
  const run = async (words: string, program = packs): Promise<{ code: number; out: string; err: string }> => {
    const { runProgram }: Partial<typeof import("../src/cli/main.ts")> = program.load(main);
    if (runProgram === undefined) throw new Error(`${folder} does not hold the program`);
    const written = { out: "", err: "" };
    const output = { write: (text: string) => (written.out += text) };
    const error = { write: (text: string) => (written.err += text) };
    const code = await runProgram(words.split(" "), { env, io: createIo({ input: process.stdin, output, error }) });
    return { code, ...written };
  };
  const svc = async (words: string, program = packs): Promise<string> => {
    const { code, out, err } = await run(words, program);
    if (code !== 0) throw new Error(`svc ${words}: ${err}`);
    return out;
  };
  const unsigned = join(home, "unsigned.json");
  await svc("keys add me", maker);
  const address = (await svc("keys show me -a")).trim();
  await svc("keys list");
  const transfer = `tx bank send ${address} ${address} 1utoken --chain-id svc-1`;
  writeFileSync(unsigned, await svc(`${transfer} --generate-only --offline`, maker));
  await svc(`tx sign ${unsigned} --chain-id svc-1 --from me --offline -a 1 -s 0`);
  await svc("--help");
  const alone = packs.loaded;
  await run(`query bank balances ${address}`);
  await run(`config trust 1 ${"AB".repeat(32)}`);
  await run(`query bank balances ${address} --denom utoken`);
  await run(`${transfer} --fees 1utoken -y`);
  if (wanted === "chunks") {
    console.log(JSON.stringify([alone, packs.loaded.filter((chunk) => !alone.includes(chunk))]));
  } else {
    for (const pack of files) packs.open(pack);
    for (const [file, script] of packs.scripts) {
      writeFileSync(`${codeCachePath(file)}.tmp`, script.createCachedData());
      renameSync(`${codeCachePath(file)}.tmp`, codeCachePath(file));
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
