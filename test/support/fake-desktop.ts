import dbus, { type MessageBus } from "@particle/dbus-next";

/**
 * Services of a desktop that behave as a test wants: with dialogs that are answered, dismissed or left alone, which the
 * real programs show only on a screen. They speak D-Bus through a library of their own.
 */
const { Interface } = dbus.interface;
const { Variant } = dbus;

/** The user's answer to a dialog, and when. */
export type Dialog = { readonly answer: "accepted" | "dismissed"; readonly afterMs: number } | "left alone";

const ROOT = "/org/freedesktop/secrets";
const NO_OBJECT = "/";

type Secret = readonly [session: string, parameters: Uint8Array, value: Uint8Array, contentType: string];

/** Connects to the session bus at an address. */
export function connect(busAddress: string): MessageBus {
  return dbus.sessionBus({ busAddress });
}

interface StoredItem {
  readonly key: string;
  secret: Secret;
}

/** A Secret Service with one collection, which is locked or missing until a dialog is accepted. */
export class FakeSecretService {
  readonly #bus: MessageBus;
  readonly #dialog: Dialog;
  readonly items: StoredItem[] = [];
  collection: string | undefined;
  locked = false;
  dialogs = 0;

  constructor(bus: MessageBus, dialog: Dialog) {
    this.#bus = bus;
    this.#dialog = dialog;
  }

  async start(): Promise<void> {
    this.#bus.export(ROOT, new ServiceObject(this));
    await this.#bus.requestName("org.freedesktop.secrets");
  }

  /** There is a collection of this name. */
  addCollection(name: string): string {
    const path = `${ROOT}/collection/${name}`;
    this.collection = path;
    this.#bus.export(path, new CollectionObject(this, name));
    return path;
  }

  addItem(item: StoredItem): string {
    this.items.push(item);
    const path = `${this.collection}/${this.items.length}`;
    this.#bus.export(path, new ItemObject(this, item));
    return path;
  }

  /** Path of a dialog; `work` waits until it is accepted. */
  addDialog(work: () => unknown): string {
    this.dialogs += 1;
    const path = `${ROOT}/prompt/p${this.dialogs}`;
    this.#bus.export(path, new PromptObject(this.#dialog, work));
    return path;
  }
}

class ServiceObject extends Interface {
  readonly #fake: FakeSecretService;

  constructor(fake: FakeSecretService) {
    super("org.freedesktop.Secret.Service");
    this.#fake = fake;
  }

  get Collections(): string[] {
    return this.#fake.collection === undefined ? [] : [this.#fake.collection];
  }

  OpenSession(): unknown[] {
    return [new Variant("s", ""), `${ROOT}/session/s1`];
  }

  CreateCollection(properties: Readonly<Record<string, { readonly value: string }>>): string[] {
    const name = properties["org.freedesktop.Secret.Collection.Label"]?.value ?? "";
    const work = () => new Variant("o", this.#fake.addCollection(name));
    return [NO_OBJECT, this.#fake.addDialog(work)];
  }

  Unlock(paths: readonly string[]): unknown[] {
    const work = () => {
      this.#fake.locked = false;
      return new Variant("ao", paths);
    };
    return [[], this.#fake.addDialog(work)];
  }
}
ServiceObject.configureMembers({
  properties: { Collections: { signature: "ao", access: "read" } },
  methods: {
    OpenSession: { inSignature: "sv", outSignature: "vo" },
    CreateCollection: { inSignature: "a{sv}s", outSignature: "oo" },
    Unlock: { inSignature: "ao", outSignature: "aoo" },
  },
});

class CollectionObject extends Interface {
  readonly #fake: FakeSecretService;
  readonly Label: string;

  constructor(fake: FakeSecretService, label: string) {
    super("org.freedesktop.Secret.Collection");
    this.#fake = fake;
    this.Label = label;
  }

  get Locked(): boolean {
    return this.#fake.locked;
  }

  get Items(): string[] {
    return this.#fake.items.map((_, index) => `${this.#fake.collection}/${index + 1}`);
  }

  SearchItems({ profile }: { readonly profile?: string }): string[] {
    return this.Items.filter((_, index) => this.#fake.items[index]?.key === profile);
  }

  CreateItem(
    properties: Readonly<Record<string, { readonly value: string }>>,
    secret: Secret,
    _replace: boolean,
  ): string[] {
    const key = properties["org.freedesktop.Secret.Item.Label"]?.value ?? "";
    return [this.#fake.addItem({ key, secret }), NO_OBJECT];
  }
}
CollectionObject.configureMembers({
  properties: {
    Label: { signature: "s", access: "read" },
    Locked: { signature: "b", access: "read" },
    Items: { signature: "ao", access: "read" },
  },
  methods: {
    SearchItems: { inSignature: "a{ss}", outSignature: "ao" },
    CreateItem: { inSignature: "a{sv}(oayays)b", outSignature: "oo" },
  },
});

class ItemObject extends Interface {
  readonly #fake: FakeSecretService;
  readonly #item: StoredItem;

  constructor(fake: FakeSecretService, item: StoredItem) {
    super("org.freedesktop.Secret.Item");
    this.#fake = fake;
    this.#item = item;
  }

  get Label(): string {
    return this.#item.key;
  }

  get Locked(): boolean {
    return this.#fake.locked;
  }

  GetSecret(): Secret {
    return this.#item.secret;
  }
}
ItemObject.configureMembers({
  properties: { Label: { signature: "s", access: "read" }, Locked: { signature: "b", access: "read" } },
  methods: { GetSecret: { inSignature: "o", outSignature: "(oayays)" } },
});

class PromptObject extends Interface {
  readonly #dialog: Dialog;
  readonly #work: () => unknown;

  constructor(dialog: Dialog, work: () => unknown) {
    super("org.freedesktop.Secret.Prompt");
    this.#dialog = dialog;
    this.#work = work;
  }

  Prompt(): void {
    const dialog = this.#dialog;
    if (dialog === "left alone") return;
    setTimeout(() => this.Completed(dialog.answer === "dismissed"), dialog.afterMs).unref();
  }

  /** The signal: what it returns is its body. */
  Completed(dismissed: boolean): unknown[] {
    return [dismissed, dismissed ? new Variant("s", "") : this.#work()];
  }
}
PromptObject.configureMembers({
  methods: { Prompt: { inSignature: "s", outSignature: "" } },
  signals: { Completed: { signature: "bv" } },
});

/** A KWallet of the newer generation whose user opens the wallet, or does not. */
export class FakeKWallet extends Interface {
  readonly #bus: MessageBus;
  readonly #dialog: Dialog;
  readonly entries = new Map<string, Uint8Array>();
  readonly opened: string[] = [];
  enabled = true;

  constructor(bus: MessageBus, dialog: Dialog) {
    super("org.kde.KWallet");
    this.#bus = bus;
    this.#dialog = dialog;
  }

  async start(): Promise<void> {
    this.#bus.export("/modules/kwalletd6", this);
    await this.#bus.requestName("org.kde.kwalletd6");
  }

  isEnabled(): boolean {
    return this.enabled;
  }

  async open(wallet: string, _window: bigint, application: string): Promise<number> {
    this.opened.push(`${wallet} as ${application}`);
    const dialog = this.#dialog;
    if (dialog === "left alone") return new Promise(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, dialog.afterMs));
    return dialog.answer === "accepted" ? 1 : -1;
  }

  isOpen(handle: number): boolean {
    return handle === 1;
  }

  entryList(): string[] {
    return [...this.entries.keys()];
  }

  hasEntry(_handle: number, _folder: string, key: string): boolean {
    return this.entries.has(key);
  }

  readEntry(_handle: number, _folder: string, key: string): Uint8Array {
    return Buffer.from(this.entries.get(key) ?? []);
  }

  writeEntry(_handle: number, _folder: string, key: string, value: Uint8Array): number {
    this.entries.set(key, value);
    return 0;
  }

  removeEntry(_handle: number, _folder: string, key: string): number {
    return this.entries.delete(key) ? 0 : -3;
  }

  sync(): void {}
}
FakeKWallet.configureMembers({
  methods: {
    isEnabled: { inSignature: "", outSignature: "b" },
    open: { inSignature: "sxs", outSignature: "i" },
    isOpen: { inSignature: "i", outSignature: "b" },
    entryList: { inSignature: "iss", outSignature: "as" },
    hasEntry: { inSignature: "isss", outSignature: "b" },
    readEntry: { inSignature: "isss", outSignature: "ay" },
    writeEntry: { inSignature: "issays", outSignature: "i" },
    removeEntry: { inSignature: "isss", outSignature: "i" },
    sync: { inSignature: "is", outSignature: "" },
  },
});
