import * as v from "valibot";
import { errorText } from "../../util/index.ts";
import type { Word } from "./questions.ts";

/** A call of a page that the command itself answers. */
export interface OwnCall {
  readonly method: "GET" | "POST";
  /** The signal comes when the page has gone. */
  readonly answer: (body: string, signal: AbortSignal) => Promise<OwnAnswer>;
}

export interface OwnAnswer {
  readonly status: number;
  readonly body: object;
}

/** A refusal with its status of HTTP. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A call whose answer is a value, or the sentence of an error; errors without a status have the one given. */
export function ownCall(
  method: OwnCall["method"],
  status: number,
  answer: (body: string, signal: AbortSignal) => Promise<object>,
): OwnCall {
  return {
    method,
    answer: async (body, signal) => {
      try {
        return { status: 200, body: await answer(body, signal) };
      } catch (error) {
        const code = error instanceof Refusal ? error.status : status;
        return { status: code, body: { code: "refused", message: errorText(error) } };
      }
    },
  };
}

/** The JSON of a body in the form of a schema. */
export function readBody<T extends v.GenericSchema>(schema: T, body: string): v.InferOutput<T> {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body);
  if (parsed.success) return parsed.output;
  throw new Refusal(400, "the request has another form");
}

const WORDS: Readonly<Record<Exclude<Word, "yes">, readonly [status: number, message: string]>> = {
  no: [403, "its user has refused"],
  crowded: [429, "too many requests wait for the user's answer"],
  unheard: [403, "svc console has no terminal to ask in"],
  withdrawn: [403, "withdrawn"],
};

/** Throws a refusal unless the user has agreed. */
export function requireConsent(word: Word): void {
  if (word !== "yes") throw new Refusal(...WORDS[word]);
}
