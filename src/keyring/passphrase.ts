import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readFileText, toUtf8, trimSpace } from "../util/index.ts";
import { keyringErrors } from "./errors.ts";
import { checkSecretFile } from "./files.ts";

/** Where the passphrase of a `file` keyring comes from. */
export interface PassphraseSource {
  /** How often a wrong answer may be followed by another question. */
  readonly attempts: number;
  /**
   * Whether white space at both ends of an answer is not part of a new passphrase: this applies to lines of files and
   * pipes, where other tools drop it. An existing keyring opens with it and without it.
   */
  readonly trims?: boolean;
  /** Asks for one line of secret text. */
  ask(prompt: string): Promise<string>;
  /** Tells the user the fault of an answer. */
  notify(text: string): void;
}

/** Bytes, as other tools count the characters of it. */
export const MIN_PASSPHRASE = 8;
const MAX_PASSPHRASE_FILE = 64 * 1024;
/**
 * The character that replaces bytes that are not text: other tools would take the bytes, and many passphrases would be
 * the same.
 */
const NOT_UTF8 = "\ufffd";
/** bcrypt, which guards the check of the passphrase, ignores all bytes after these. */
const MAX_PASSPHRASE_BYTES = 72;

/** A passphrase that is known already, for unattended starts. */
export function fixedPassphrase(passphrase: string): PassphraseSource {
  return { attempts: 1, ask: async () => passphrase, notify: () => undefined };
}

/**
 * The first line of a file that only its owner can read. A file from the service manager (`LoadCredential=` of systemd)
 * is guarded by the manager: it belongs to the system, and only the service can open it.
 */
export function passphraseFile(path: string, credentials = process.env.CREDENTIALS_DIRECTORY): PassphraseSource {
  const isCredential = credentials !== undefined && dirname(path) === credentials;
  const ask = async (): Promise<string> => {
    const isThere = isCredential ? existsSync(path) : checkSecretFile(path);
    if (!isThere) throw keyringErrors.passphrase(`passphrase file ${path} does not exist`);
    const [line = ""] = readFileText(path, { maxBytes: MAX_PASSPHRASE_FILE }).split(/\r?\n/);
    return line;
  };
  return { attempts: 1, trims: true, ask, notify: () => undefined };
}

/** Possible passphrases of a line, in the order to try: without white space at its ends, then unchanged. */
export function passphraseForms(line: string): readonly string[] {
  return [...new Set([trimSpace(line), line])];
}

/** Asks for the passphrase of an existing keyring until `isRight` agrees. */
export async function askExisting(
  source: PassphraseSource,
  isRight: (passphrase: string) => Promise<boolean>,
): Promise<string> {
  return askUntilUsable(source, async () => {
    for (const passphrase of passphraseForms(await source.ask("Enter keyring passphrase:"))) {
      if (await isRight(passphrase)) return { passphrase };
    }
    return { fault: "incorrect passphrase" };
  });
}

/** Asks for the passphrase of a new keyring, twice. */
export async function askNew(source: PassphraseSource): Promise<string> {
  const ask = async (prompt: string): Promise<string> => {
    const line = await source.ask(prompt);
    return source.trims === true ? trimSpace(line) : line;
  };
  return askUntilUsable(source, async () => {
    const passphrase = await ask("Enter keyring passphrase:");
    const fault = newPassphraseFault(passphrase);
    if (fault !== undefined) return { fault };
    const repeated = await ask("Re-enter keyring passphrase:");
    return repeated === passphrase ? { passphrase } : { fault: "passphrase do not match" };
  });
}

/** The fault of a new passphrase, if any. */
export function newPassphraseFault(passphrase: string): string | undefined {
  const length = toUtf8(passphrase).length;
  if (length < MIN_PASSPHRASE) return `password must be at least ${MIN_PASSPHRASE} characters`;
  if (passphrase.includes(NOT_UTF8)) return "password is not UTF-8 text";
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
