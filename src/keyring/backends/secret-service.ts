import { type Bus, type DBusValue, Variant } from "../dbus/index.ts";
import { keyringErrors } from "../errors.ts";
import type { ItemStore } from "../types.ts";
import { decodeItemJson, encodeItemJson } from "./item-json.ts";
import { callService, connectSession, DIALOG_MS, type ServiceContext, serviceError, withNotice } from "./session.ts";

const NAME = "org.freedesktop.secrets";
const ROOT = "/org/freedesktop/secrets";
const SERVICE = "org.freedesktop.Secret.Service";
const COLLECTION = "org.freedesktop.Secret.Collection";
const ITEM = "org.freedesktop.Secret.Item";
const PROMPT = "org.freedesktop.Secret.Prompt";
const WHAT = "Secret Service";
/** Path that means "no object". */
const NO_OBJECT = "/";

/** The Secret Service of the desktop, such as the keyring of GNOME; refuses if the session has none. */
export async function openSecretService(context: ServiceContext): Promise<ItemStore> {
  const bus = await connectSession(context, WHAT);
  try {
    const { owned, startable } = await bus.names();
    if (!owned.has(NAME) && !startable.has(NAME)) throw keyringErrors.backend(`${WHAT}: none runs in this session`);
    const body = ["plain", new Variant("s", "")];
    const call = { destination: NAME, path: ROOT, interface: SERVICE, member: "OpenSession", signature: "sv", body };
    const [, session] = await callService(bus, call, { what: WHAT });
    return new SecretItems({ ...context, bus, session: text(session) });
  } catch (error) {
    bus.close();
    throw serviceError(error, WHAT);
  }
}

interface SecretParts extends ServiceContext {
  readonly bus: Bus;
  readonly session: string;
}

/**
 * Items of the Secret Service in the layout of the ecosystem's tools: a collection that bears the tool's name, in it an
 * item for each key, whose label and attribute `profile` are the key and whose secret is the item's JSON.
 */
class SecretItems implements ItemStore {
  readonly backend = "os";
  readonly #parts: SecretParts;

  constructor(parts: SecretParts) {
    this.#parts = parts;
  }

  get place(): string {
    return `the ${WHAT}, collection "${this.#parts.service}"`;
  }

  get isLost(): boolean {
    return this.#parts.bus.isLost;
  }

  async keys(): Promise<string[]> {
    const collection = await this.#openCollection();
    if (collection === undefined) return [];
    const items = texts(await this.#property(collection, COLLECTION, "Items"));
    return Promise.all(items.map(async (item) => text(await this.#property(item, ITEM, "Label"))));
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    const item = await this.#find(key);
    if (item === undefined) return undefined;
    await this.#unlock(item, ITEM);
    const [secret] = await this.#call(item, ITEM, "GetSecret", { signature: "o", body: [this.#parts.session] });
    const value = Array.isArray(secret) ? secret[2] : undefined;
    if (!(value instanceof Uint8Array)) throw malformed();
    return decodeItemJson(value, `item "${key}" of the ${WHAT}`);
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    if ((await this.#find(key)) !== undefined) return false;
    await this.write(key, data);
    return true;
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    const collection = (await this.#openCollection()) ?? (await this.#createCollection());
    const properties = [
      [`${ITEM}.Label`, new Variant("s", key)],
      [`${ITEM}.Attributes`, new Variant("a{ss}", attributes(key))],
    ];
    const secret = [this.#parts.session, new Uint8Array(), encodeItemJson(key, data), "application/json"];
    const body = [properties, secret, true];
    const [, prompt] = await this.#call(collection, COLLECTION, "CreateItem", { signature: "a{sv}(oayays)b", body });
    await this.#answer(prompt, `store "${key}"`);
  }

  async remove(key: string): Promise<void> {
    const item = await this.#find(key);
    if (item === undefined) return;
    await this.#unlock(item, ITEM);
    const [prompt] = await this.#call(item, ITEM, "Delete");
    await this.#answer(prompt, `delete "${key}"`);
  }

  async #find(key: string): Promise<string | undefined> {
    const collection = await this.#openCollection();
    if (collection === undefined) return undefined;
    const [items] = await this.#call(collection, COLLECTION, "SearchItems", {
      signature: "a{ss}",
      body: [attributes(key)],
    });
    return texts(items)[0];
  }

  /** The collection, unlocked; undefined if it does not exist yet. */
  async #openCollection(): Promise<string | undefined> {
    const collections = texts(await this.#property(ROOT, SERVICE, "Collections"));
    const path = `${ROOT}/collection/${this.#parts.service}`;
    const collection = collections.find((each) => unescaped(each) === path) ?? (await this.#byLabel(collections));
    if (collection !== undefined) await this.#unlock(collection, COLLECTION);
    return collection;
  }

  /** Each service makes paths of names in its own way; the label is always the name. */
  async #byLabel(collections: readonly string[]): Promise<string | undefined> {
    for (const each of collections) {
      if ((await this.#property(each, COLLECTION, "Label")) === this.#parts.service) return each;
    }
    return undefined;
  }

  async #createCollection(): Promise<string> {
    const { service } = this.#parts;
    const body = [[[`${COLLECTION}.Label`, new Variant("s", service)]], ""];
    const [path, prompt] = await this.#call(ROOT, SERVICE, "CreateCollection", { signature: "a{sv}s", body });
    const made = await this.#answer(prompt, `create the collection "${service}"`);
    return text(made ?? path);
  }

  async #unlock(path: string, kind: typeof COLLECTION | typeof ITEM): Promise<void> {
    if ((await this.#property(path, kind, "Locked")) !== true) return;
    const [, prompt] = await this.#call(ROOT, SERVICE, "Unlock", { signature: "ao", body: [[path]] });
    await this.#answer(prompt, `unlock the collection "${this.#parts.service}"`);
  }

  /** Lets the desktop ask the user if necessary. Returns the result of the dialog; undefined without one. */
  async #answer(prompt: DBusValue | undefined, purpose: string): Promise<DBusValue | undefined> {
    const path = text(prompt);
    if (path === NO_OBJECT) return undefined;
    const { bus, notify } = this.#parts;
    const signal = { path, interface: PROMPT, member: "Completed" };
    const ask = (): Promise<unknown> => this.#call(path, PROMPT, "Prompt", { signature: "s", body: [""] });
    const notice = `waiting for the desktop's dialog to ${purpose} (Ctrl-C cancels)`;
    let completed: readonly DBusValue[];
    try {
      completed = await withNotice(bus.signal(signal, ask, DIALOG_MS), () => notify(notice));
    } catch (error) {
      throw serviceError(error, `${WHAT}: dialog to ${purpose}`);
    }
    const [dismissed, result] = completed;
    if (dismissed === true)
      throw keyringErrors.refused(`${WHAT}: the dialog to ${purpose} was dismissed or could not be shown`);
    return result instanceof Variant ? result.value : undefined;
  }

  async #property(path: string, kind: string, name: string): Promise<DBusValue> {
    const body = [kind, name];
    const [variant] = await this.#call(path, "org.freedesktop.DBus.Properties", "Get", { signature: "ss", body });
    if (!(variant instanceof Variant)) throw malformed();
    return variant.value;
  }

  #call(
    path: string,
    kind: string,
    member: string,
    content: { readonly signature?: string; readonly body?: readonly DBusValue[] } = {},
  ): Promise<readonly DBusValue[]> {
    const call = { destination: NAME, path, interface: kind, member, ...content };
    return callService(this.#parts.bus, call, { what: WHAT });
  }
}

function attributes(key: string): DBusValue {
  return [["profile", key]];
}

function text(value: DBusValue | undefined): string {
  if (typeof value !== "string") throw malformed();
  return value;
}

function texts(value: DBusValue | undefined): string[] {
  if (!Array.isArray(value)) throw malformed();
  return value.map(text);
}

function malformed(): Error {
  return keyringErrors.service(`${WHAT}: an answer was not understood`);
}

/** Characters not allowed in a path are written as `_` and two hexadecimal digits. */
function unescaped(path: string): string {
  return path.replaceAll(/_([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
