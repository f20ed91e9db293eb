import { join } from "node:path";
import { keyringErrors } from "./errors.ts";
import { FileItems } from "./file-items.ts";
import { ItemKeyring } from "./keyring.ts";
import { MemoryItems } from "./memory-items.ts";
import type { PassphraseSource } from "./passphrase.ts";
import type { ItemStore, Keyring } from "./types.ts";

/** Names that `--keyring-backend` takes. */
export const KEYRING_BACKENDS = ["os", "file", "kwallet", "pass", "test", "memory"] as const;

/** How to open a keyring. */
export interface KeyringOptions {
  /** One of `KEYRING_BACKENDS`. */
  readonly backend: string;
  /** The directory that holds `keyring-file` and `keyring-test`: the home, or `--keyring-dir`. */
  readonly dir: string;
  readonly passphrase: PassphraseSource;
  /** Tells the user something on standard error. */
  readonly notify: (text: string) => void;
  /** Bech32 prefix of the network. */
  readonly prefix?: string;
}

/** Opens a keyring. Nothing is read, written or asked before the first use of a key. */
export function openKeyring(options: KeyringOptions): Keyring {
  const backend = options.backend === "os" ? fallBackToFile(options) : options.backend;
  const items = openItems(backend, options);
  return new ItemKeyring({ backend, items, ...(options.prefix === undefined ? {} : { prefix: options.prefix }) });
}

/** No service of the operating system is spoken to yet; keys must not end in a place the user did not hear of. */
function fallBackToFile({ dir, notify }: KeyringOptions): string {
  notify(`keyring backend "os" is not available here, using "file" in ${join(dir, "keyring-file")}`);
  return "file";
}

function openItems(backend: string, { dir, passphrase }: KeyringOptions): ItemStore {
  switch (backend) {
    case "file":
      return new FileItems(join(dir, "keyring-file"), passphrase);
    case "test":
      return new FileItems(join(dir, "keyring-test"));
    case "memory":
      return new MemoryItems();
    case "kwallet":
    case "pass":
      throw keyringErrors.backend(backend);
    default:
      throw keyringErrors.backend(`unknown keyring backend ${backend}`, {
        hint: `use one of ${KEYRING_BACKENDS.join(", ")}`,
      });
  }
}
