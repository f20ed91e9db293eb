/** Runs tasks one after the other, in the order they were given. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => {});
    return result;
  }
}

/** Runs the tasks of one name one after the other; tasks of different names run in parallel. */
export class Mutexes {
  readonly #names = new Map<string, { readonly mutex: Mutex; tasks: number }>();

  async run<T>(name: string, task: () => T | Promise<T>): Promise<T> {
    const known = this.#names.get(name) ?? { mutex: new Mutex(), tasks: 0 };
    this.#names.set(name, known);
    known.tasks++;
    try {
      return await known.mutex.run(task);
    } finally {
      known.tasks--;
      if (known.tasks === 0) this.#names.delete(name);
    }
  }
}

/** Runs at most `limit` tasks at once, the others wait in order. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

interface TurnOwner {
  readonly slots: Semaphore;
  /** Tasks that run or wait. */
  tasks: number;
}

/**
 * Runs at most `each` tasks of one owner and `all` tasks in total at once: an owner with many tasks waits only for
 * itself.
 */
export class Turns {
  readonly #each: number;
  readonly #all: Semaphore;
  readonly #owners = new Map<string, TurnOwner>();

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
