import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runCli } from "../run.ts";

/** A command line, its exit code, and a part of its output. */
export type Row = readonly [argv: readonly string[], code: 1 | 2, text: string, given?: Given];

export interface Given {
  /** Standard input. None of its lines may be repeated. */
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** Nothing listens here. */
const NODE = "tcp://127.0.0.1:1";

/** Throw-away phrases; never fund them. */
export const PHRASE_A = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const PHRASE_B = "legal winner thank year wave sausage worth useful legal winner thank yellow";

/** A home with the keys `a` and `b`, and a directory for files that commands are given. */
export interface TestHome {
  readonly root: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Addresses of the two keys. */
  readonly A: string;
  readonly B: string;
  /** The address of `a` with one wrong letter. */
  readonly wrongSum: string;
  /** An unsigned transfer from `a` to `b`, and the file with it. */
  readonly unsigned: string;
  readonly tx: string;
  /** A path where nothing is. */
  readonly none: string;
  /** Writes a file and returns its path; directories are made. */
  file(name: string, content: string | Uint8Array, mode?: number): string;
  /** The transfer with a piece of its text replaced, in a separate file. */
  edited(name: string, from: string, to: string): string;
  remove(): void;
}

export async function makeTestHome(): Promise<TestHome> {
  const root = mkdtempSync(join(tmpdir(), "svc-bad-"));
  const home = join(root, "home");
  mkdirSync(home, { mode: 0o700 });
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_NODE: NODE };
  const recover = async (name: string, phrase: string): Promise<string> =>
    JSON.parse((await runCli(["keys", "add", name, "--recover", "-o", "json"], { env, input: `${phrase}\n` })).out)
      .address;
  const A = await recover("a", PHRASE_A);
  const B = await recover("b", PHRASE_B);
  const { out: unsigned } = await runCli(["tx", "bank", "send", A, B, "1utoken", "--generate-only"], { env });
  const file: TestHome["file"] = (name, content, mode = 0o644) => {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
    return path;
  };
  return {
    root,
    home,
    env,
    A,
    B,
    wrongSum: `${A.slice(0, -1)}${A.endsWith("q") ? "p" : "q"}`,
    unsigned,
    tx: file("unsigned.json", unsigned),
    none: join(root, "none"),
    file,
    edited(name, from, to) {
      if (!unsigned.includes(from)) throw new Error(`the transfer has no ${from}`);
      return file(`${name}.json`, unsigned.replace(from, to));
    },
    remove: () => rmSync(root, { recursive: true }),
  };
}

/** Everything below a directory with its size, mode and time of change, to see that nothing was written. */
export function snapshot(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { mode, size, ctimeNs } = lstatSync(join(dir, name), { bigint: true });
      // A lock that came and went leaves its time on a directory.
      const isDirectory = (mode & FILE_TYPE) === DIRECTORY;
      return isDirectory ? `${name}/ ${mode}` : `${name} ${mode} ${size} ${ctimeNs}`;
    });
}

/** The part of a mode that tells files from directories. */
const FILE_TYPE = 0o170000n;
const DIRECTORY = 0o040000n;
