import { setTimeout as pause } from "node:timers/promises";
import { errorText, unlessAborted } from "../../../util/index.ts";
import type { StartRequest } from "../request.ts";

const PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** Milliseconds to wait after this many attempts have failed. */
export function growingPauseMs(attempt: number): number {
  return Math.min(PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS);
}

/** The operator's options while waiting, besides starting the node. */
const REMEDY =
  "start the node; workloads here stay served, an interrupt (Ctrl-C) ends the wait, and --node names another node";

/** Repeats a call until the node answers: where both start with their machine, the provider may be the first. */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { client, log, signal, meanwhile }: Pick<StartRequest, "client" | "log" | "signal" | "meanwhile">,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      // A hanging node does not delay an operator who interrupts the start.
      return await (signal === undefined ? call() : unlessAborted(call(), signal));
    } catch (error) {
      signal?.throwIfAborted();
      const node = client.rpc.endpoint.http.origin;
      log.warn("waiting for the node", { node, err: errorText(error), remedy: REMEDY });
      await meanwhile?.();
      await sleep(growingPauseMs(attempt), signal);
    }
  }
}

/** Ends early, and without an error, when the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
}
