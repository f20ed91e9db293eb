import type { Signal } from "@preact/signals";
import { GatewayRefusal, gatewayClientErrors, StreamEnd } from "../../client/index.ts";
import { errorText, isOneOf, SvcError } from "../../util/index.ts";
import { Items } from "../parts/blocks.tsx";
import { State, Strange } from "../parts/text.tsx";
import { runningWords } from "../text/running.ts";
import type { OpenLease } from "./leases.tsx";

/** Waits between two tries to open a stream. */
const RETRY_MS = { first: 1_000, most: 10_000 };

export type StreamState =
  | { readonly kind: "connecting" | "open" | "ended" }
  | { readonly kind: "lost" | "failed"; readonly error: unknown };

interface Following<T> {
  readonly open: () => Promise<OpenLease>;
  readonly read: (lease: OpenLease) => AsyncIterable<T>;
  readonly take: (item: T) => Promise<void>;
  readonly tell: (state: StreamState) => void;
  readonly signal: AbortSignal;
}

/** Reads a stream of a lease to its end, and opens it again where that may help. */
export async function followStream<T>({ open, read, take, tell, signal }: Following<T>): Promise<void> {
  tell({ kind: "connecting" });
  for (let wait = RETRY_MS.first; !signal.aborted; wait = Math.min(RETRY_MS.most, wait * 2)) {
    let lease: OpenLease | undefined;
    try {
      lease = await open();
      for await (const item of read(lease)) {
        wait = RETRY_MS.first;
        await take(item);
      }
      return tell({ kind: "ended" });
    } catch (reason) {
      const error = lease === undefined ? reason : await whyNoStream(lease, reason);
      if (isFinal(error)) return tell({ kind: "failed", error });
      tell({ kind: "lost", error });
    }
    await pause(wait, signal);
  }
}

/** Waits, or until the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

const LEASE_ENDED = 4001;

/** Whether another try would end in the same way. A wallet is not asked twice for what it has refused. */
function isFinal(error: unknown): boolean {
  if (error instanceof StreamEnd) return error.closeCode === LEASE_ENDED;
  if (error instanceof GatewayRefusal) return error.status < 500 && error.status !== 429;
  return (
    isOneOf([gatewayClientErrors.noWebAddress], error) || (error instanceof SvcError && error.codespace === "wallet")
  );
}

/**
 * Why a stream does not open. Browsers tell a page nothing of a refused websocket, so the gateway is asked for the status of the lease:
 * a refusal of that is the reason, and an answer shows that only the websocket fails.
 */
export async function whyNoStream({ id, gateway }: OpenLease, error: unknown): Promise<unknown> {
  if (!isOneOf([gatewayClientErrors.unreachable, gatewayClientErrors.timeout], error)) return error;
  try {
    await gateway.leaseStatus(id);
    return new Error(runningWords.noWebsocket(errorText(error)));
  } catch (reason) {
    return reason;
  }
}

/** How the streams of the leases are, with the reason where one is not. */
export function StreamStates({ states }: { states: Signal<ReadonlyMap<string, StreamState>> }) {
  return (
    <ul class="streams" aria-live="polite">
      <Items of={[...states.value]}>
        {([lease, state]) => (
          <li key={lease}>
            <State word={runningWords.stream[state.kind]} kind={KINDS[state.kind]} />{" "}
            {"error" in state && <Strange text={errorText(state.error)} max={600} />}
          </li>
        )}
      </Items>
    </ul>
  );
}

const KINDS = { connecting: "calm", open: "good", ended: "calm", lost: "bad", failed: "bad" } as const;
