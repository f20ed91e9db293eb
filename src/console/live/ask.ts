import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { clientErrors, isBusy } from "../../client/index.ts";
import { isOneOf } from "../../util/index.ts";
import { concerns } from "./blocks/changes.ts";
import { type News, news } from "./blocks/head.ts";
import { Paced } from "./paced.ts";

/** The state of a question to the node. A failed question is never an empty answer. */
export type Answer<T> =
  | { readonly kind: "waiting" }
  | { readonly kind: "known"; readonly value: T }
  | {
      readonly kind: "unknown";
      readonly error: unknown;
      /** The answer before, where the node has merely left the question unanswered since. */
      readonly earlier?: { readonly value: T };
    };

const SILENT = [clientErrors.unreachable, clientErrors.timeout, clientErrors.busy, clientErrors.badAnswer];

/** Whether a question failed for lack of an answer. */
export function isSilence(error: unknown): boolean {
  return isOneOf(SILENT, error);
}

/** The same, or that a node refused it for the moment: it may be answered when it is asked again. */
function isPassing(error: unknown): boolean {
  return isSilence(error) || isBusy(error);
}

const WAITING = { kind: "waiting" } as const;

/** The latest answer that there was: what stands on it, such as a form in use, outlasts a question in vain. */
export function latest<T>(answer: Answer<T>): { readonly value: T } | undefined {
  if (answer.kind === "waiting") return undefined;
  return answer.kind === "known" ? answer : answer.earlier;
}

export interface AskOptions {
  /** The question is asked anew when this changes. */
  readonly key: string;
  /** Asks again after each block with a transaction, and keeps the answer before meanwhile. */
  readonly isLive?: boolean;
  /** Asks again after every block, for money that leases earn without transactions. */
  readonly isPerBlock?: boolean;
  /** Asks again after each block with an event of one of the kinds, a list of `KINDS`. */
  readonly changedBy?: readonly string[];
  /** Milliseconds between two times that it is asked; a second unless given. */
  readonly leastMs?: number;
}

/** Asks when the page opens, and again when a node that did not answer is back. */
export function useAsk<T>(ask: () => Promise<T>, options: AskOptions): Signal<Answer<T>> {
  const answer = useSignal<Answer<T>>(WAITING);
  const { key, isLive, isPerBlock, changedBy } = options;
  useEffect(() => {
    answer.value = WAITING;
    return asking(ask, answer, options);
  }, [key, isLive, isPerBlock, changedBy]);
  return answer;
}

/** Returns the function that ends it. One question is open at a time; one more follows if something happened meanwhile. */
function asking<T>(ask: () => Promise<T>, answer: Signal<Answer<T>>, options: AskOptions): () => void {
  let isOver = false;
  const question = new Paced(async () => {
    // An error of the question itself is an answer too.
    const found = await (async () => ask())().then(
      (value): Answer<T> => ({ kind: "known", value }),
      (error: unknown): Answer<T> => {
        const earlier = isPassing(error) ? latest(answer.peek()) : undefined;
        return { kind: "unknown", error, ...(earlier && { earlier }) };
      },
    );
    if (!isOver) answer.value = found;
  }, options.leastMs);
  const seen = news.peek();
  const stop = news.subscribe((latest) => {
    const now = answer.peek();
    // A node that sends blocks may answer now what it did not answer before.
    const isBack = now.kind === "unknown" && isPassing(now.error);
    if (latest !== seen && (isBack || isOld(latest, options))) question.want();
  });
  question.want();
  return () => {
    isOver = true;
    stop();
    question.end();
  };
}

/** Whether an answer from before may be another one now. */
function isOld({ hasTxs, changes }: News, { isLive, isPerBlock, changedBy }: AskOptions): boolean {
  return (
    isPerBlock === true || (isLive === true && hasTxs) || (changedBy !== undefined && concerns(changes, changedBy))
  );
}
