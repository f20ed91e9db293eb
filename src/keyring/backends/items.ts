import type { ItemStore } from "../types.ts";

/** Items of this process only. */
export class MemoryItems implements ItemStore {
  readonly backend = "memory";
  readonly place = "this process only";
  readonly #items = new Map<string, Uint8Array>();

  async keys(): Promise<string[]> {
    return [...this.#items.keys()];
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    return this.#items.get(key);
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    if (this.#items.has(key)) return false;
    this.#items.set(key, data);
    return true;
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    this.#items.set(key, data);
  }

  async remove(key: string): Promise<void> {
    this.#items.delete(key);
  }
}

/** Items of a store that is opened at the first use: nothing is loaded, connected to or asked before. */
export class LazyItems implements ItemStore {
  readonly #chosen: string;
  readonly #open: () => Promise<ItemStore>;
  #opening: Promise<ItemStore> | undefined;
  #store: ItemStore | undefined;

  /** `chosen` is the name of the back end until it is open. */
  constructor(chosen: string, open: () => Promise<ItemStore>) {
    this.#chosen = chosen;
    this.#open = open;
  }

  get backend(): string {
    return this.#store?.backend ?? this.#chosen;
  }

  get place(): string {
    return this.#store?.place ?? "";
  }

  async keys(): Promise<string[]> {
    return (await this.#opened()).keys();
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    return (await this.#opened()).read(key);
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    return (await this.#opened()).create(key, data);
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    await (await this.#opened()).write(key, data);
  }

  async remove(key: string): Promise<void> {
    await (await this.#opened()).remove(key);
  }

  /** The store; neither a failed attempt nor a lost connection sticks. */
  async #opened(): Promise<ItemStore> {
    if (this.#store?.isLost === true) {
      this.#store = undefined;
      this.#opening = undefined;
    }
    this.#opening ??= this.#open();
    try {
      this.#store = await this.#opening;
      return this.#store;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
