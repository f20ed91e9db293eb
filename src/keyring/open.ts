import { join } from "node:path";
import { FileItems, type KeyringKdf, LazyItems, MemoryItems, type ServiceContext } from "./backends/index.ts";
import { keyringErrors } from "./errors.ts";
import { ItemKeyring } from "./keyring.ts";
import type { PassphraseSource } from "./passphrase.ts";
import type { ItemStore, Keyring } from "./types.ts";

/** Names that `--keyring-backend` takes. */
export const KEYRING_BACKENDS = ["os", "file", "kwallet", "pass", "test", "memory"] as const;
/** The name under which `os`, `kwallet` and `pass` keep keys if no other is given. */
export const KEYRING_SERVICE = "svc";

/** Names that are valid for wallets, paths and collections alike. */
const SERVICE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The wallet that the ecosystem's tools use under `kwallet`, each under its own name. */
const WALLET = "kdewallet";

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
  /** Work that a guess at the passphrase of `file` costs, for items written from now on; "standard" when left out. */
  readonly kdf?: KeyringKdf;
  /** The name under which `os`, `kwallet` and `pass` keep keys; another tool's name opens the keys of that tool. */
  readonly service?: string;
  /** Variables that locate the session, the wallet and the password store; the process's own if left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Opens a keyring. Nothing is read, written, connected to or asked before the first use of a key. */
export function openKeyring(options: KeyringOptions): Keyring {
  const { prefix } = options;
  return new ItemKeyring({ items: openItems(options), ...(prefix === undefined ? {} : { prefix }) });
}

function openItems(options: KeyringOptions): ItemStore {
  const { backend, dir, passphrase, kdf } = options;
  switch (backend) {
    case "os":
      return new LazyItems(backend, () => openOs(options));
    case "file":
      return new FileItems(join(dir, "keyring-file"), passphrase, kdf);
    case "kwallet":
      return new LazyItems(backend, () => openWallet(options));
    case "pass":
      return new LazyItems(backend, () => openStore(options));
    case "test":
      return new FileItems(join(dir, "keyring-test"));
    case "memory":
      return new MemoryItems();
    default:
      throw keyringErrors.backend(`unknown keyring backend ${backend}`, {
        hint: `use one of ${KEYRING_BACKENDS.join(", ")}`,
      });
  }
}

/** Without a keyring of the system it falls back to `file`, with a notice: users must know where their keys are. */
async function openOs(options: KeyringOptions): Promise<ItemStore> {
  const context = serviceContext(options);
  const { openSystemKeyring } = await import("./backends/os.ts");
  const items = await openSystemKeyring(context);
  if (items !== undefined) return items;
  const dir = join(options.dir, "keyring-file");
  options.notify(`keyring backend "os" is not available here, using "file" in ${dir}`);
  return new FileItems(dir, options.passphrase, options.kdf);
}

async function openWallet(options: KeyringOptions): Promise<ItemStore> {
  const context = serviceContext(options);
  const { openKWallet } = await import("./backends/kwallet.ts");
  return openKWallet(context, { backend: "kwallet", wallet: WALLET, application: context.service });
}

async function openStore(options: KeyringOptions): Promise<ItemStore> {
  const context = serviceContext(options);
  const { openPass } = await import("./backends/pass.ts");
  return openPass(context, { backend: "pass", folder: `keyring-${context.service}` });
}

function serviceContext({ service = KEYRING_SERVICE, env = process.env, notify }: KeyringOptions): ServiceContext {
  if (!SERVICE_NAME.test(service)) throw keyringErrors.serviceName(JSON.stringify(service.slice(0, 80)));
  return { service, env, notify };
}
