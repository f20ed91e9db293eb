import { fetchPage, pause } from "../../support/index.ts";

const PAUSE_MS = 250;
const PATIENCE_MS = 30_000;

/** A page that is requested all the time. */
export interface Asked {
  readonly url: string;
  /** As `fetchPage` returns it. */
  readonly page: string;
}

/** A client for each page, and its errors that no fault explains. */
export class Clients {
  readonly wrong: string[] = [];
  right = 0;
  explained = 0;
  readonly #work = new Map<Asked, Promise<void>>();
  readonly #excused = new Map<Asked, number>();

  add(asked: Asked): void {
    this.#work.set(asked, this.#ask(asked));
  }

  /** Ends the requests for it. */
  async remove(asked: Asked): Promise<void> {
    const work = this.#work.get(asked);
    this.#work.delete(asked);
    await work;
  }

  async stop(): Promise<void> {
    for (const asked of [...this.#work.keys()]) await this.remove(asked);
  }

  /** Failed requests for these pages are explained while the work runs. */
  async excuse<T>(pages: readonly Asked[], work: () => Promise<T>): Promise<T> {
    const count = (change: number) => {
      for (const page of pages) this.#excused.set(page, (this.#excused.get(page) ?? 0) + change);
    };
    count(1);
    try {
      return await work();
    } finally {
      count(-1);
    }
  }

  #isExcused(asked: Asked): boolean {
    return (this.#excused.get(asked) ?? 0) > 0;
  }

  async #ask(asked: Asked): Promise<void> {
    // The first request is sent when the client is registered.
    await pause(PAUSE_MS);
    while (this.#work.has(asked)) {
      const excusedBefore = this.#isExcused(asked);
      const answer = await fetchPage(asked.url, PATIENCE_MS).catch((error: Error) => error.message);
      if (answer === asked.page) this.right++;
      else if (excusedBefore || this.#isExcused(asked)) this.explained++;
      else if (this.#work.has(asked)) this.wrong.push(`${asked.url}: ${answer.slice(0, 200)}`);
      await pause(PAUSE_MS);
    }
  }
}
