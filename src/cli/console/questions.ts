import { randomInt } from "node:crypto";
import type { Io } from "../terminal/io.ts";
import { MAX_QUESTIONS } from "./limits.ts";

/** The user's word on a question: `crowded` where too many wait, `unheard` where there is no terminal, `withdrawn` where the page has gone. */
export type Word = "yes" | "no" | "crowded" | "unheard" | "withdrawn";

/**
 * Questions of pages to the user at the terminal, one at a time. The answer is a number that is shown with the question, so that nothing
 * typed before answers it. A refusal refuses all that wait: a page may not ask until somebody errs.
 */
export class Questions {
  readonly #io: Pick<Io, "isTTY" | "ask" | "err">;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #refusals = 0;
  #isAsking = false;

  constructor(io: Pick<Io, "isTTY" | "ask" | "err">) {
    this.#io = io;
  }

  /** Whether a question is on the screen. */
  get isAsking(): boolean {
    return this.#isAsking;
  }

  /** Shows a text and asks for consent, unless the signal comes before. */
  async ask(text: string, signal: AbortSignal): Promise<Word> {
    if (!this.#io.isTTY) return "unheard";
    if (this.#waiting >= MAX_QUESTIONS) return "crowded";
    this.#waiting += 1;
    const before = this.#refusals;
    const turn = this.#last.then(() => (this.#refusals > before ? "no" : this.#put(text, signal)));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #put(text: string, signal: AbortSignal): Promise<Word> {
    if (signal.aborted) return "withdrawn";
    const number = String(randomInt(100, 1_000));
    const withdraw = (): void => this.#io.err("withdrawn by the page: press Enter to go on\n");
    this.#io.err(`${text}\n\n`);
    signal.addEventListener("abort", withdraw, { once: true });
    this.#isAsking = true;
    try {
      const answer = await this.#io.ask(`type ${number} to agree, anything else to refuse`);
      if (signal.aborted) return "withdrawn";
      if (answer.trim() === number) return "yes";
      this.#refusals += 1;
      this.#io.err("refused\n");
      return "no";
    } finally {
      this.#isAsking = false;
      signal.removeEventListener("abort", withdraw);
    }
  }
}
