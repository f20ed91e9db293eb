import { accessSync, constants, existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { keyringErrors } from "../errors.ts";
import { isErrno } from "../files.ts";
import { leavesItsPlace } from "../names.ts";
import type { ItemStore } from "../types.ts";
import { decodeItemJson, encodeItemJson } from "./item-json.ts";
import { type Ran, runProgram } from "./run-program.ts";
import { DIALOG_MS, type ServiceContext, withNotice } from "./session.ts";

const WHAT = "pass";
const SUFFIX = ".gpg";

/** Where in the password store the items are. */
export interface PassPlace {
  /** Name of the back end that the user chose. */
  readonly backend: string;
  /** Folder inside the store; empty for the store itself. */
  readonly folder: string;
}

/** The password store of the program `pass`; refuses where either is missing. */
export async function openPass(context: ServiceContext, place: PassPlace): Promise<ItemStore> {
  const program = findProgram("pass", context.env.PATH ?? "");
  if (program === undefined) throw keyringErrors.backend(`${WHAT}: the program is not installed`);
  const store = storeDirectory(context.env);
  if (!isInitialised(store, place.folder) && (context.env.PASSWORD_STORE_KEY ?? "") === "") {
    const hint = "run: pass init <id of a GPG key>, or use --keyring-backend file";
    throw keyringErrors.backend(`${WHAT}: the password store ${store} is not initialised`, { hint });
  }
  return new PassItems({ ...context, ...place, program, store });
}

interface PassParts extends ServiceContext, PassPlace {
  readonly program: string;
  readonly store: string;
}

/** Items as entries of the password store, which `pass` encrypts and decrypts with GPG. */
class PassItems implements ItemStore {
  readonly backend: string;
  readonly #parts: PassParts;
  /** One program at a time: gpg and its agent ask the user once, not for each key at the same moment. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: PassParts) {
    this.backend = parts.backend;
    this.#parts = parts;
  }

  get place(): string {
    const { store, folder } = this.#parts;
    return `the password store ${join(store, folder)}`;
  }

  async keys(): Promise<string[]> {
    const { store, folder } = this.#parts;
    // Folders of the store itself belong to others.
    const names = await entryNames(join(store, folder), folder !== "");
    return names.map((name) => name.slice(0, -SUFFIX.length).replaceAll(sep, "/"));
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    if (!this.#has(key)) return undefined;
    const { stdout } = await this.#run(["show", "--", this.#entry(key)], `read "${key}"`);
    return decodeItemJson(stdout, `entry "${this.#entry(key)}" of the password store`);
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    if (this.#has(key)) return false;
    await this.write(key, data);
    return true;
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    await this.#run(["insert", "-m", "-f", "--", this.#entry(key)], `store "${key}"`, encodeItemJson(key, data));
  }

  async remove(key: string): Promise<void> {
    if (this.#has(key)) await this.#run(["rm", "-f", "--", this.#entry(key)], `delete "${key}"`);
  }

  #entry(key: string): string {
    const { folder } = this.#parts;
    return folder === "" ? key : `${folder}/${key}`;
  }

  #has(key: string): boolean {
    // The program refuses such paths, and nothing outside the store is read.
    return !leavesItsPlace(key) && existsSync(join(this.#parts.store, `${this.#entry(key)}${SUFFIX}`));
  }

  #run(args: readonly string[], purpose: string, input?: Uint8Array): Promise<Ran> {
    const { program, env, notify } = this.#parts;
    const run = async (): Promise<Ran> => {
      const request = { env, timeoutMs: DIALOG_MS, ...(input === undefined ? {} : { input }) };
      const notice = "waiting for pass: GPG may be asking for the passphrase of its key (Ctrl-C cancels)";
      const ran = await withNotice(runProgram(program, args, request), () => notify(notice));
      if (ran.timedOut) throw keyringErrors.timeout(`${WHAT}: could not ${purpose}`);
      if (ran.code !== 0) throw keyringErrors.service(`${WHAT}: could not ${purpose}: ${lastLine(ran)}`);
      return ran;
    };
    const result = this.#last.then(run);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** The last message of gpg; it never contains a part of an item. */
function lastLine({ stderr, code }: Ran): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  return lines.findLast((line) => line !== "")?.slice(0, 200) ?? `it ended with ${code}`;
}

async function entryNames(dir: string, recursive: boolean): Promise<string[]> {
  try {
    const names = await readdir(dir, { recursive });
    return names.filter((name) => name.endsWith(SUFFIX));
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

function storeDirectory(env: ServiceContext["env"]): string {
  const home = env.HOME ?? homedir();
  const dir = env.PASSWORD_STORE_DIR ?? "";
  if (dir === "") return join(home, ".password-store");
  return dir === "~" || dir.startsWith("~/") ? join(home, dir.slice(1)) : dir;
}

/** The keys for which entries are encrypted are named in the folder, or in one above it. */
function isInitialised(store: string, folder: string): boolean {
  const inside = join(store, folder);
  return existsSync(join(inside, ".gpg-id")) || (inside !== store && isInitialised(store, dirname(folder)));
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
