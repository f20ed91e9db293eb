import { errorText } from "../../util/index.ts";
import { keyringErrors } from "../errors.ts";
import type { ItemStore } from "../types.ts";
import { runProgram } from "./run-program.ts";
import { DIALOG_MS, type ServiceContext, withNotice } from "./session.ts";

/** Systems whose own keyring is spoken to through a native library. */
export type NativeSystem = "darwin" | "win32";

/** The part of the library `@napi-rs/keyring` that is used. */
export interface NativeLibrary {
  readonly AsyncEntry: {
    new (service: string, account: string): NativeEntry;
    withTarget(target: string, service: string, account: string): NativeEntry;
  };
  findCredentialsAsync(service: string): Promise<readonly { readonly account: string }[]>;
}

interface NativeEntry {
  setSecret(secret: Uint8Array): Promise<void>;
  /** Null if there is no entry. */
  getSecret(): Promise<readonly number[] | null>;
  deleteCredential(): Promise<boolean>;
}

const WHAT: Readonly<Record<NativeSystem, string>> = { darwin: "Keychain", win32: "Credential Manager" };

/** The Keychain of macOS or the Credential Manager of Windows; refuses where the optional library is not installed. */
export async function openNative(
  context: ServiceContext,
  system: NativeSystem,
  load: () => Promise<NativeLibrary> = () => import("@napi-rs/keyring"),
): Promise<ItemStore> {
  try {
    return new NativeItems({ ...context, system, library: await load() });
  } catch {
    const hint = "run: npm install @napi-rs/keyring, or use --keyring-backend file";
    throw keyringErrors.backend(`${WHAT[system]}: the optional package @napi-rs/keyring does not load`, { hint });
  }
}

interface NativeParts extends ServiceContext {
  readonly system: NativeSystem;
  readonly library: NativeLibrary;
}

/**
 * Items as the ecosystem's tools keep them: on macOS generic passwords of the service with the key as account, on
 * Windows generic credentials `keyring:<service>:<key>`. The secret is the item's data itself.
 */
class NativeItems implements ItemStore {
  readonly backend = "os";
  readonly #parts: NativeParts;

  constructor(parts: NativeParts) {
    this.#parts = parts;
  }

  get place(): string {
    const { system, service } = this.#parts;
    return `the ${WHAT[system]}, under the name ${service}`;
  }

  async keys(): Promise<string[]> {
    const { system, library, service } = this.#parts;
    if (system === "win32") return this.#credentials();
    const found = await this.#wait(library.findCredentialsAsync(service));
    return found.map(({ account }) => account);
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    const secret = await this.#wait(this.#entry(key).getSecret());
    return secret === null ? undefined : Uint8Array.from(secret);
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    if ((await this.read(key)) !== undefined) return false;
    await this.write(key, data);
    return true;
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    await this.#wait(this.#entry(key).setSecret(data));
  }

  async remove(key: string): Promise<void> {
    await this.#wait(this.#entry(key).deleteCredential());
  }

  #entry(key: string): NativeEntry {
    const { system, library, service } = this.#parts;
    if (system === "darwin") return new library.AsyncEntry(service, key);
    return library.AsyncEntry.withTarget(`${targetPrefix(service)}${key}`, service, key);
  }

  /** The library lists only credentials whose secrets are texts, so the system's own program does it. */
  async #credentials(): Promise<string[]> {
    const { env, service } = this.#parts;
    const { code, stdout, stderr } = await runProgram("cmdkey", ["/list"], { env, timeoutMs: DIALOG_MS });
    if (code !== 0) throw keyringErrors.service(`${WHAT.win32}: cmdkey ended with ${code}: ${stderr.slice(0, 200)}`);
    return credentialKeys(Buffer.from(stdout).toString("utf8"), service);
  }

  async #wait<T>(work: Promise<T>): Promise<T> {
    const { system, notify } = this.#parts;
    try {
      return await withNotice(work, () => notify(`waiting for the ${WHAT[system]} (Ctrl-C cancels)`));
    } catch (error) {
      throw keyringErrors.service(`${WHAT[system]}: ${errorText(error)}`);
    }
  }
}

function targetPrefix(service: string): string {
  return `keyring:${service}:`;
}

/** Keys of a service's items in the output of `cmdkey /list`, whose words around the targets are translated. */
export function credentialKeys(listing: string, service: string): string[] {
  const mark = `target=${targetPrefix(service)}`;
  return listing.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(mark);
    return at < 0 ? [] : [line.slice(at + mark.length).trim()];
  });
}
