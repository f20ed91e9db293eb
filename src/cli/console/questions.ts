import { randomInt } from "node:crypto";
import type { Io } from "../terminal/io.ts";
import { MAX_QUESTIONS } from "./limits.ts";

/** The user's word on a question: `crowded` where too many wait, `unheard` where there is no terminal, `withdrawn` where the page has gone. */
export type Word = "yes" | "no" | "crowded" | "unheard" | "withdrawn";

/** Where the user reads a question and answers it. */
export interface QuestionPlace {
  /** Whether there is anybody to read it. */
  readonly isOpen: boolean;
  /** Shows a text; whether the user has agreed. The signal says that the page has gone. */
  put(text: string, signal: AbortSignal): Promise<boolean>;
}

/** Questions of pages to the user, one at a time. A refusal refuses all that wait: a page may not ask until somebody errs. */
export class Questions {
  readonly #place: QuestionPlace;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #refusals = 0;
  #isAsking = false;

  constructor(place: QuestionPlace) {
    this.#place = place;
  }

  /** Whether a question is shown. */
  get isAsking(): boolean {
    return this.#isAsking;
  }

  /** Shows a text and asks for consent, unless the signal comes before. */
  async ask(text: string, signal: AbortSignal): Promise<Word> {
    if (!this.#place.isOpen) return "unheard";
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
    this.#isAsking = true;
    try {
      const isAgreed = await this.#place.put(text, signal);
      if (signal.aborted) return "withdrawn";
      if (isAgreed) return "yes";
      this.#refusals += 1;
      return "no";
    } finally {
      this.#isAsking = false;
    }
  }
}

/** The terminal. The answer is a number that is shown with the question, so that nothing typed before answers it. */
export function atTerminal(io: Pick<Io, "isTTY" | "ask" | "err">): QuestionPlace {
  return {
    isOpen: io.isTTY,
    async put(text, signal) {
      const number = String(randomInt(100, 1_000));
      const withdraw = (): void => io.err("withdrawn by the page: press Enter to go on\n");
      io.err(`${text}\n\n`);
      signal.addEventListener("abort", withdraw, { once: true });
      try {
        const answer = await io.ask(`type ${number} to agree, anything else to refuse`);
        const isAgreed = answer.trim() === number;
        if (!isAgreed && !signal.aborted) io.err("refused\n");
        return isAgreed;
      } finally {
        signal.removeEventListener("abort", withdraw);
      }
    },
  };
}
