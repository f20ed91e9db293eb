/** Answers kept for a short time; concurrent requests share one question. Failures are not kept. */
export class Memo<T> {
  readonly #ask: (key: string) => Promise<T>;
  readonly #ageMs: number;
  readonly #now: () => number;
  readonly #answers = new Map<string, { readonly at: number; readonly answer: Promise<T> }>();

  constructor(ask: (key: string) => Promise<T>, ageMs: number, now: () => number) {
    this.#ask = ask;
    this.#ageMs = ageMs;
    this.#now = now;
  }

  /** Answers held now. */
  get size(): number {
    return this.#answers.size;
  }

  get(key: string): Promise<T> {
    const kept = this.#answers.get(key);
    if (kept !== undefined && this.#now() - kept.at < this.#ageMs) return kept.answer;
    // A refreshed key moves to the end, so that entries are in the order of their ages.
    this.#answers.delete(key);
    this.#prune();
    const entry = { at: this.#now(), answer: this.#ask(key) };
    this.#answers.set(key, entry);
    entry.answer.catch(() => {
      if (this.#answers.get(key) === entry) this.#answers.delete(key);
    });
    return entry.answer;
  }

  #prune(): void {
    for (const [key, { at }] of this.#answers) {
      if (this.#now() - at < this.#ageMs) return;
      this.#answers.delete(key);
    }
  }
}
