import type { Bus, DBusValue } from "../dbus/index.ts";
import { keyringErrors } from "../errors.ts";
import type { ItemStore } from "../types.ts";
import { decodeItemJson, encodeItemJson } from "./item-json.ts";
import { callService, connectSession, DIALOG_MS, type ServiceContext, serviceError, withNotice } from "./session.ts";

const WHAT = "KWallet";
const INTERFACE = "org.kde.KWallet";
const FOLDER = "keyring";
/** Generations of the program, in the order in which other tools look for them. */
const DAEMONS = ["kwalletd5", "kwalletd6"] as const;

/** Which wallet is opened, and under which name. */
export interface KWalletPlace {
  /** Name of the back end that the user chose. */
  readonly backend: string;
  readonly wallet: string;
  readonly application: string;
}

/** The wallet of KDE; refuses where the session has none or it is switched off. */
export async function openKWallet(context: ServiceContext, place: KWalletPlace): Promise<ItemStore> {
  if (context.env.DISABLE_KWALLET === "1") throw keyringErrors.backend(`${WHAT}: DISABLE_KWALLET is set`);
  const bus = await connectSession(context, WHAT);
  try {
    const items = new KWalletItems({ ...context, ...place, bus, daemon: await findDaemon(bus) });
    await items.open();
    return items;
  } catch (error) {
    bus.close();
    throw serviceError(error, WHAT);
  }
}

async function findDaemon(bus: Bus): Promise<string> {
  const { owned, startable } = await bus.names();
  const nameOf = (daemon: string): string => `org.kde.${daemon}`;
  const daemon = DAEMONS.find((each) => owned.has(nameOf(each))) ?? DAEMONS.find((each) => startable.has(nameOf(each)));
  if (daemon === undefined) throw keyringErrors.backend(`${WHAT}: none runs in this session`);
  return daemon;
}

interface KWalletParts extends ServiceContext, KWalletPlace {
  readonly bus: Bus;
  readonly daemon: string;
}

/** Items as entries of one folder of a wallet. */
class KWalletItems implements ItemStore {
  readonly backend: string;
  readonly #parts: KWalletParts;
  #handle: Promise<number> | undefined;

  constructor(parts: KWalletParts) {
    this.backend = parts.backend;
    this.#parts = parts;
  }

  get isLost(): boolean {
    return this.#parts.bus.isLost;
  }

  async open(): Promise<void> {
    if ((await this.#call("isEnabled", "", [])) !== true)
      throw keyringErrors.backend(`${WHAT}: it is switched off in the settings of the desktop`);
    await this.#opened();
  }

  get place(): string {
    return `${WHAT}, wallet "${this.#parts.wallet}"`;
  }

  async keys(): Promise<string[]> {
    const names = await this.#entry("entryList", "is", [FOLDER]);
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    const value = await this.#entry("readEntry", "iss", [FOLDER, key]);
    if (!(value instanceof Uint8Array)) throw keyringErrors.service(`${WHAT}: an answer was not understood`);
    return value.length === 0 ? undefined : decodeItemJson(value, `entry "${key}" of the wallet`);
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    if ((await this.#entry("hasEntry", "iss", [FOLDER, key])) === true) return false;
    await this.write(key, data);
    return true;
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    const failed = await this.#entry("writeEntry", "issay", [FOLDER, key, encodeItemJson(key, data)]);
    if (failed !== 0) throw keyringErrors.service(`${WHAT}: "${key}" could not be stored`);
    await this.#sync();
  }

  async remove(key: string): Promise<void> {
    if ((await this.#entry("hasEntry", "iss", [FOLDER, key])) !== true) return;
    const failed = await this.#entry("removeEntry", "iss", [FOLDER, key]);
    if (failed !== 0) throw keyringErrors.service(`${WHAT}: "${key}" could not be deleted`);
    await this.#sync();
  }

  /** Writes the wallet to disk at once; otherwise this happens some seconds later. */
  async #sync(): Promise<void> {
    await this.#entry("sync", "i", []);
  }

  /** A method of the open wallet: its handle comes first, the name of the application last. */
  async #entry(member: string, signature: string, body: readonly DBusValue[]): Promise<DBusValue | undefined> {
    const handle = await this.#opened();
    return this.#call(member, `${signature}s`, [handle, ...body, this.#parts.application]);
  }

  /** The handle of the wallet, which is opened again if the user has closed it. */
  async #opened(): Promise<number> {
    const handle = await this.#handle;
    if (handle === undefined || (await this.#call("isOpen", "i", [handle])) !== true) {
      this.#handle = this.#openWallet();
      this.#handle.catch(() => {
        this.#handle = undefined;
      });
    }
    return (await this.#handle) ?? -1;
  }

  async #openWallet(): Promise<number> {
    const { wallet, application, notify } = this.#parts;
    const opening = this.#call("open", "sxs", [wallet, 0n, application], DIALOG_MS);
    const handle = await withNotice(opening, () =>
      notify(`waiting for KWallet to open the wallet "${wallet}" (Ctrl-C cancels)`),
    );
    if (typeof handle !== "number" || handle < 0)
      throw keyringErrors.refused(`${WHAT}: the wallet "${wallet}" was not opened`);
    return handle;
  }

  async #call(member: string, signature: string, body: readonly DBusValue[], timeoutMs?: number) {
    const { bus, daemon } = this.#parts;
    const call = { destination: `org.kde.${daemon}`, path: `/modules/${daemon}`, interface: INTERFACE, member };
    const options = timeoutMs === undefined ? { what: WHAT } : { what: WHAT, timeoutMs };
    const [result] = await callService(bus, { ...call, signature, body }, options);
    return result;
  }
}
