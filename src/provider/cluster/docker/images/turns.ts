import { Semaphore } from "../../../../util/index.ts";

interface Owner {
  readonly slots: Semaphore;
  /** Tasks that run or wait. */
  tasks: number;
}

/**
 * Runs at most `each` tasks of one owner at once, and `all` of all owners: an owner with many tasks waits for its own,
 * and others do not wait for it.
 */
export class Turns {
  readonly #each: number;
  readonly #all: Semaphore;
  readonly #owners = new Map<string, Owner>();

  constructor({ each, all }: { readonly each: number; readonly all: number }) {
    this.#each = each;
    this.#all = new Semaphore(all);
  }

  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const owner = this.#owners.get(name) ?? { slots: new Semaphore(this.#each), tasks: 0 };
    this.#owners.set(name, owner);
    owner.tasks++;
    try {
      return await owner.slots.run(() => this.#all.run(task));
    } finally {
      owner.tasks--;
      if (owner.tasks === 0) this.#owners.delete(name);
    }
  }
}
