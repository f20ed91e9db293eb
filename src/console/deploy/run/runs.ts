import { batch, effect, type Signal, signal } from "@preact/signals";
import type {
  BidRecord,
  DeployReporter,
  DeployResult,
  Note,
  Offer,
  Questions,
  StepName,
  Wait,
} from "../../../tenant/index.ts";
import { isSilence } from "../../live/ask.ts";
import { wallet } from "../../live/wallet.ts";
import { deploying } from "../../text/deploying.ts";
import type { SendStage } from "../../wallet/send.ts";
import type { Wallet } from "../../wallet/wallet.ts";
import { forgetRun, keepRun, keptRun, type RunRecord } from "./records.ts";

/** Steps of a deployment that its page shows, in their order. */
export const STEPS = ["order", "bid", "lease", "manifest", "ready"] as const;

/** State of a run. `elsewhere`: another tab has it; `outage`: it tries again by itself. */
export type RunState =
  | { readonly kind: "idle" | "elsewhere" | "running" }
  | { readonly kind: "outage" | "stopped"; readonly error: unknown }
  | { readonly kind: "done"; readonly result: DeployResult };

/** Bids of a group among which the owner chooses. */
export interface Question {
  readonly group: string;
  readonly offers: readonly Offer[];
  readonly accept: (offer: Offer) => void;
}

/** A run as its page shows it. */
export interface Run {
  readonly record: Signal<RunRecord>;
  readonly state: Signal<RunState>;
  /** Number of steps that are done. */
  readonly done: Signal<number>;
  /** The awaited event, in English and as a value. */
  readonly waiting: Signal<{ readonly sentence: string; readonly wait: Wait } | undefined>;
  readonly notes: Signal<readonly { readonly sentence: string; readonly note: Note }[]>;
  /** The work of the wallet. */
  readonly stage: Signal<SendStage | "session" | undefined>;
  readonly question: Signal<Question | undefined>;
  /** Ends the pause after an error. */
  goOn: () => void;
}

/** Runs of this tab; they go on while other pages are shown. */
const runs = new Map<string, Run>();

/** A run of this tab, or a kept one; undefined if this browser has none of that name. */
export async function openRun(id: string): Promise<Run | undefined> {
  const known = runs.get(id);
  if (known !== undefined) return known;
  const record = await keptRun(id);
  if (record === undefined) return undefined;
  const run = runs.get(id) ?? newRun(record);
  runs.set(id, run);
  return run;
}

/** Removes the record; the chain is not asked for anything. */
export async function forget({ record }: Run): Promise<void> {
  const { id } = record.peek();
  await forgetRun(id);
  runs.delete(id);
}

function newRun(record: RunRecord): Run {
  return {
    record: signal(record),
    state: signal<RunState>({ kind: "idle" }),
    done: signal(doneBefore(record)),
    waiting: signal(undefined),
    notes: signal([]),
    stage: signal(undefined),
    question: signal(undefined),
    goOn: () => undefined,
  };
}

/** Steps that a record has behind it; one whose order may be on its way has none. */
function doneBefore({ progress }: RunRecord): number {
  if (progress === undefined || progress.step === "order") return 0;
  if (progress.step === "done") return STEPS.length;
  return STEPS.indexOf(progress.step);
}

/** Milliseconds after which a run tries again that the node or a provider has failed. */
const RETRY_MS = 3_000;

/** Takes a run on by an account until it is done or the account goes; at most one tab does so at a time. */
export async function goOn(run: Run, account: Wallet): Promise<void> {
  if (run.state.peek().kind !== "idle") return;
  run.state.value = { kind: "elsewhere" };
  const stop = new AbortController();
  const end = effect(() => {
    if (wallet.value !== account) stop.abort();
  });
  try {
    const { signal: left } = stop;
    // Browsers without locks make no keys of sessions either.
    await navigator.locks.request(`svc deploy ${run.record.peek().id}`, { signal: left }, async () => {
      await refresh(run);
      for (let isOver = false; !isOver && !left.aborted; ) isOver = await attempt(run, account, left);
    });
  } catch (error) {
    if (!stop.signal.aborted) run.state.value = { kind: "stopped", error };
  } finally {
    end();
    if (stop.signal.aborted) run.state.value = { kind: "idle" };
  }
}

/** Another tab may have come further, or its owner has forgotten the run there. */
async function refresh({ record, done }: Run): Promise<void> {
  const kept = await keptRun(record.peek().id);
  if (kept === undefined) throw new Error(deploying.absent);
  record.value = kept;
  done.value = doneBefore(kept);
}

/** Resolves with whether the run is done; else after a pause, or when its owner wants to go on. */
async function attempt(run: Run, account: Wallet, left: AbortSignal): Promise<boolean> {
  batch(() => {
    run.state.value = { kind: "running" };
    run.waiting.value = undefined;
    run.notes.value = [];
  });
  try {
    const result = await work(run, account, left);
    await keepRun({ ...run.record.peek(), addresses: [...result.uris] });
    batch(() => {
      run.record.value = { ...run.record.peek(), addresses: [...result.uris] };
      run.done.value = STEPS.length;
      run.state.value = { kind: "done", result };
    });
    return true;
  } catch (error) {
    if (left.aborted) return false;
    const isOutage = isSilence(error) || run.waiting.peek()?.wait.for === "gateway";
    run.state.value = { kind: isOutage ? "outage" : "stopped", error };
    await paused(run, left, isOutage ? RETRY_MS : undefined);
    return false;
  } finally {
    run.stage.value = undefined;
    run.question.value = undefined;
  }
}

/** Waits for its owner, and no longer than the milliseconds given. */
function paused(run: Run, left: AbortSignal, ms: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    run.goOn = resolve;
    left.addEventListener("abort", () => resolve(), { once: true });
    if (ms !== undefined) setTimeout(resolve, ms);
  });
}

/** Longest wait for bids, for a provider to accept the manifest, and for the services to run. */
const PATIENCE_MS = 3_600_000;

async function work(run: Run, account: Wallet, left: AbortSignal): Promise<DeployResult> {
  const [{ textRequest }, { deployRun }] = await Promise.all([import("../read.ts"), import("./workflow.ts")]);
  const { name, text, deposit, isChosen } = run.record.peek();
  const choice = { kind: isChosen ? "ask" : "cheapest" } as const;
  const own = deposit === undefined ? {} : { deposit };
  const request = textRequest({ name, text, policy: { choice }, timeoutMs: PATIENCE_MS, ...own }, left);
  const choose: Questions["choose"] = (group, offers) =>
    new Promise<BidRecord>((resolve) => {
      run.question.value = { group, offers, accept: ({ bid }) => resolve(bid) };
    }).finally(() => {
      run.question.value = undefined;
    });
  const onStage = (stage: SendStage | "session" | undefined): void => {
    run.stage.value = stage;
  };
  return deployRun({ run: run.record, account, request, reporter: reporterOf(run), choose, onStage });
}

/** The newest notes that a page shows. */
const MAX_NOTES = 50;

function reporterOf({ waiting, notes, done }: Run): DeployReporter {
  const reach = (steps: number): void => {
    done.value = Math.max(done.peek(), steps);
  };
  return {
    step({ name }) {
      reach(before(name) + (isShown(name) ? 1 : 0));
      waiting.value = undefined;
    },
    waiting(sentence, wait) {
      reach(stepOf(wait));
      waiting.value = { sentence, wait };
    },
    note(sentence, note) {
      notes.value = [...notes.peek(), { sentence, note }].slice(-MAX_NOTES);
    },
  };
}

function isShown(name: StepName): name is (typeof STEPS)[number] {
  return STEPS.some((step) => step === name);
}

function before(name: StepName): number {
  return isShown(name) ? STEPS.indexOf(name) : 0;
}

const STEP_OF: Partial<Readonly<Record<Wait["for"], (typeof STEPS)[number]>>> = {
  bids: "bid",
  "more-bids": "bid",
  gateway: "bid",
  lease: "lease",
  manifest: "manifest",
  services: "ready",
};

/** The number of steps that are done when a run waits for something. */
function stepOf({ for: what }: Wait): number {
  return before(STEP_OF[what] ?? "order");
}
