import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { clientErrors } from "../../client/index.ts";
import { isOneOf } from "../../util/index.ts";
import { changedAt, newest } from "./head.ts";

/** The state of a question to the node. A failed question is never an empty answer. */
export type Answer<T> =
  | { readonly kind: "waiting" }
  | { readonly kind: "known"; readonly value: T }
  | { readonly kind: "unknown"; readonly error: unknown };

const SILENT = [clientErrors.unreachable, clientErrors.timeout, clientErrors.busy, clientErrors.badAnswer];

/** Whether a question failed for lack of an answer. */
export function isSilence(error: unknown): boolean {
  return isOneOf(SILENT, error);
}

const WAITING = { kind: "waiting" } as const;

export interface AskOptions {
  /** The question is asked anew when this changes. */
  readonly key: string;
  /** Asks again after each block with a transaction, and keeps the answer before meanwhile. */
  readonly isLive?: boolean;
  /** Asks again after every block, for money that leases earn without transactions. */
  readonly isPerBlock?: boolean;
}

/** Asks when the page opens, and again when a node that did not answer is back. */
export function useAsk<T>(
  ask: () => Promise<T>,
  { key, isLive = false, isPerBlock = false }: AskOptions,
): Signal<Answer<T>> {
  const answer = useSignal<Answer<T>>(WAITING);
  useEffect(() => {
    answer.value = WAITING;
    return asking(ask, { answer, isLive, isPerBlock });
  }, [key, isLive, isPerBlock]);
  return answer;
}

interface Asking<T> {
  readonly answer: Signal<Answer<T>>;
  readonly isLive: boolean;
  readonly isPerBlock: boolean;
}

/** Returns the function that ends it. One question is open at a time; one more follows if something happened meanwhile. */
function asking<T>(ask: () => Promise<T>, { answer, isLive, isPerBlock }: Asking<T>): () => void {
  let isOver = false;
  let isOpen = false;
  let isStale = false;
  const run = async (): Promise<void> => {
    isStale = isOpen;
    if (isOpen) return;
    isOpen = true;
    const found = await ask().then(
      (value): Answer<T> => ({ kind: "known", value }),
      (error: unknown): Answer<T> => ({ kind: "unknown", error }),
    );
    isOpen = false;
    if (isOver) return;
    answer.value = found;
    if (isStale) void run();
  };
  void run();
  // A node that sends blocks may answer now what it did not answer before.
  let block = newest.peek();
  const again = newest.subscribe((next) => {
    const now = answer.peek();
    const isNext = isPerBlock && next !== block;
    block = next;
    if (isNext || (now.kind === "unknown" && isSilence(now.error))) void run();
  });
  let seen = changedAt.peek();
  const changed = changedAt.subscribe((height) => {
    if (height === seen || !isLive) return;
    seen = height;
    void run();
  });
  return () => {
    isOver = true;
    again();
    changed();
  };
}
