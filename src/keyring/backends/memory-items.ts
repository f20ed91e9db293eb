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
