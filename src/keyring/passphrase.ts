import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { toUtf8 } from "../util/index.ts";
import { keyringErrors } from "./errors.ts";
import { checkSecretFile } from "./files.ts";

/** Where the passphrase of a `file` keyring comes from. */
export interface PassphraseSource {
  /** How often a wrong answer may be followed by another question. */
  readonly attempts: number;
  /** Asks for one line of secret text. */
  ask(prompt: string): Promise<string>;
  /** Tells the user what was wrong with an answer. */
  notify(text: string): void;
}

export const MIN_PASSPHRASE = 8;
/** bcrypt, which guards the check of the passphrase, looks at no byte after these. */
const MAX_PASSPHRASE_BYTES = 72;

/** A passphrase that is known already, for unattended starts. */
export function fixedPassphrase(passphrase: string): PassphraseSource {
  return { attempts: 1, ask: async () => passphrase, notify: () => undefined };
}

/** The first line of a file that nobody else may read. */
export function passphraseFile(path: string): PassphraseSource {
  const ask = async (): Promise<string> => {
    if (!checkSecretFile(path)) throw keyringErrors.passphrase(`passphrase file ${path} does not exist`);
    const [line = ""] = (await readFile(path, "utf8")).split(/\r?\n/);
    return line;
  };
  return { attempts: 1, ask, notify: () => undefined };
}

/** Asks for the passphrase of an existing keyring until `isRight` agrees. */
export async function askExisting(
  source: PassphraseSource,
  isRight: (passphrase: string) => Promise<boolean>,
): Promise<string> {
  return askUntilUsable(source, async () => {
    const passphrase = await source.ask("Enter keyring passphrase:");
    return (await isRight(passphrase)) ? { passphrase } : { fault: "incorrect passphrase" };
  });
}

/** Asks for the passphrase of a new keyring, twice. */
export async function askNew(source: PassphraseSource): Promise<string> {
  return askUntilUsable(source, async () => {
    const passphrase = await source.ask("Enter keyring passphrase:");
    const fault = newPassphraseFault(passphrase);
    if (fault !== undefined) return { fault };
    const repeated = await source.ask("Re-enter keyring passphrase:");
    return repeated === passphrase ? { passphrase } : { fault: "passphrase do not match" };
  });
}

/** What is wrong with a passphrase that is to be used from now on. */
export function newPassphraseFault(passphrase: string): string | undefined {
  if (passphrase.length < MIN_PASSPHRASE) return `password must be at least ${MIN_PASSPHRASE} characters`;
  const length = toUtf8(passphrase).length;
  return length > MAX_PASSPHRASE_BYTES ? `password must be at most ${MAX_PASSPHRASE_BYTES} bytes` : undefined;
}

/** The text of a `keyhash` file: bcrypt with the version and cost that the ecosystem's tools write. */
export async function hashPassphrase(passphrase: string, cost: number): Promise<string> {
  const bcrypt = await import("bcryptjs");
  return bcrypt.hash(passphrase, `$2a$${cost}$${bcrypt.encodeBase64([...randomBytes(16)], 16)}`);
}

export async function matchesHash(passphrase: string, hash: string): Promise<boolean> {
  const bcrypt = await import("bcryptjs");
  return bcrypt.compare(passphrase, hash);
}

type Answer = { readonly passphrase: string } | { readonly fault: string };

async function askUntilUsable(source: PassphraseSource, ask: () => Promise<Answer>): Promise<string> {
  let last = "";
  for (let attempt = 0; attempt < source.attempts; attempt++) {
    const answer = await ask();
    if ("passphrase" in answer) return answer.passphrase;
    last = answer.fault;
    source.notify(last);
  }
  throw source.attempts === 1 ? keyringErrors.passphrase(last) : keyringErrors.attempts();
}
