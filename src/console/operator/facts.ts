import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import * as v from "valibot";
import { newest } from "../live/blocks/head.ts";
import { jsonOf } from "../live/chain.ts";

/** Integers as text: cpu in thousandths of a core, gpu in pieces, the others in bytes. */
const amounts = v.object({ cpu: v.string(), memory: v.string(), storage: v.string(), gpu: v.string() });
export type Amounts = v.InferOutput<typeof amounts>;

const order = v.object({
  order: v.string(),
  phase: v.string(),
  reason: v.optional(v.string()),
  declined: v.optional(v.string()),
  remedy: v.optional(v.string()),
  again_at: v.optional(v.string()),
  price: v.optional(v.string()),
  winner: v.optional(v.object({ provider: v.string(), price: v.string() })),
  detected_at: v.string(),
});
export type OrderFacts = v.InferOutput<typeof order>;

const earnings = v.object({
  lease: v.string(),
  denom: v.string(),
  price: v.string(),
  withdrawn: v.string(),
  accrued: v.string(),
});

const check = v.object({
  check: v.string(),
  state: v.picklist(["ok", "failed", "unknown"]),
  detail: v.string(),
  fix: v.optional(v.string()),
});

const facts = v.object({
  provider: v.string(),
  started_at: v.string(),
  draining: v.boolean(),
  obstacles: v.array(v.string()),
  probe: v.optional(v.string()),
  orders: v.array(order),
  omitted: v.number(),
  prices: v.string(),
  price_flags: v.optional(v.record(v.string(), v.string())),
  reservations: v.array(v.object({ order: v.string(), ...amounts.entries })),
  nodes: v.array(v.object({ name: v.string(), offered: amounts, left: amounts, largest: amounts })),
  ports_left: v.number(),
  lease_phases: v.array(v.object({ lease: v.string(), phase: v.string() })),
  earnings: v.optional(v.array(earnings)),
  checks: v.optional(v.array(check)),
  checked_at: v.optional(v.string()),
});
/** The running provider as it tells of itself. */
export type Facts = v.InferOutput<typeof facts>;

/** The newest facts, or why there are none now. */
export interface Told {
  readonly facts: Facts | undefined;
  readonly error: unknown;
}

/** Least milliseconds between two questions, however fast blocks come; and the wait where no block comes. */
const PACE_MS = 2_000;
const IDLE_MS = 6_000;

/** Asks for the facts at the pace of the blocks while the page is open. */
export function useFacts(): ReadonlySignal<Told> {
  const told = useSignal<Told>({ facts: undefined, error: undefined });
  useEffect(() => {
    const page = new AbortController();
    void follow(page.signal, (now) => {
      told.value = now;
    });
    return () => page.abort();
  }, []);
  return told;
}

async function follow(page: AbortSignal, tell: (told: Told) => void): Promise<void> {
  while (!page.aborted) {
    const now = await jsonOf("provider")
      .then((answer): Told => ({ facts: v.parse(facts, answer), error: undefined }))
      .catch((error: unknown): Told => ({ facts: undefined, error }));
    if (!page.aborted) tell(now);
    await passed(PACE_MS);
    await nextBlock(page);
  }
}

/** The next block, or a while without one: a provider comes back while the node is away as well. */
function nextBlock(page: AbortSignal): Promise<void> {
  const seen = newest.peek();
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      clearTimeout(late);
      page.removeEventListener("abort", done);
      resolve();
    };
    const late = setTimeout(done, IDLE_MS);
    page.addEventListener("abort", done);
    const stop = newest.subscribe((block) => {
      if (block !== seen) queueMicrotask(done);
    });
  });
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Rows of the facts. A row whose content stays is the same object, and rows that all stay are the same list: no signal changes. */
export function useRows<T>(
  told: ReadonlySignal<Told>,
  pick: (facts: Facts) => readonly T[],
): ReadonlySignal<readonly T[]> {
  const last = useRef<readonly T[]>([]);
  return useComputed(() => {
    const { facts: now } = told.value;
    if (now !== undefined) last.current = keptRows(last.current, pick(now));
    return last.current;
  });
}

export function keptRows<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const known = new Map(before.map((row) => [JSON.stringify(row), row]));
  const rows = after.map((row) => known.get(JSON.stringify(row)) ?? row);
  const isSame = rows.length === before.length && rows.every((row, i) => row === before[i]);
  return isSame ? before : rows;
}
