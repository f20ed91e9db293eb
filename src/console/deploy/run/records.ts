import type { Signal } from "@preact/signals";
import * as v from "valibot";
import { JOURNAL_STEPS, type Journal, type JournalEntry } from "../../../tenant/index.ts";
import { errorText } from "../../../util/index.ts";
import { deploy } from "../../text/deploy.ts";
import { inStore, type Store } from "../../wallet/stored/database.ts";

const RUNS: Store = { database: "svc-deployments", name: "runs", key: "id" };

const schema = v.object({
  id: v.string(),
  chainId: v.string(),
  owner: v.string(),
  /** Name of the file. */
  name: v.string(),
  text: v.string(),
  /** The least that the chain accepts unless given. */
  deposit: v.optional(v.object({ denom: v.string(), amount: v.bigint() })),
  /** Whether its owner chooses the bids; the cheapest are accepted otherwise. */
  isChosen: v.boolean(),
  /** Milliseconds since 1970. */
  begun: v.number(),
  /** How far it has come; undefined before its number is chosen. */
  progress: v.optional(
    v.object({
      dseq: v.bigint(),
      fingerprint: v.string(),
      step: v.picklist(JOURNAL_STEPS),
      chosen: v.array(v.object({ gseq: v.number(), provider: v.string() })),
    }),
  ),
  /** Addresses of the services when they were ready. */
  addresses: v.array(v.string()),
});

/** A deployment that was begun in this browser, with its file: all that is needed to go on, besides the chain. */
export type RunRecord = v.InferOutput<typeof schema>;

/** The records of this browser, newest first; a record of another form, which a later version may have written, is left out. */
export async function keptRuns(): Promise<readonly RunRecord[]> {
  const found: unknown = await inStore(RUNS, "readonly", (store) => store.getAll());
  const all = Array.isArray(found) ? found : [];
  return all.flatMap((each) => readRun(each) ?? []).sort((a, b) => b.begun - a.begun);
}

export async function keptRun(id: string): Promise<RunRecord | undefined> {
  return readRun(await inStore(RUNS, "readonly", (store) => store.get(id)));
}

/** The record of a deployment on the chain. */
export async function keptRunOf(owner: string, chainId: string, dseq: bigint): Promise<RunRecord | undefined> {
  const runs = await keptRuns();
  return runs.find((run) => run.owner === owner && run.chainId === chainId && run.progress?.dseq === dseq);
}

/** Keeps a record; one with the same identifier is replaced. Rejects with a sentence where the browser keeps nothing. */
export async function keepRun(run: RunRecord): Promise<void> {
  try {
    await inStore(RUNS, "readwrite", (store) => store.put(run));
  } catch (error) {
    throw new Error(deploy.notKept(errorText(error)));
  }
}

export async function forgetRun(id: string): Promise<void> {
  await inStore(RUNS, "readwrite", (store) => store.delete(id));
}

function readRun(value: unknown): RunRecord | undefined {
  const read = v.safeParse(schema, value);
  return read.success ? read.output : undefined;
}

/** The journal of one run. `written` resolves when all of it is on disk: it is awaited before anything is signed. */
export interface RunJournal extends Journal {
  written(): Promise<void>;
}

/** Keeps the progress of a run in its record. Another run's number is refused by the chain, which takes each number once. */
export function runJournal(run: Signal<RunRecord>, keep: (run: RunRecord) => Promise<void> = keepRun): RunJournal {
  let written: Promise<unknown> = Promise.resolve();
  const change = (progress: RunRecord["progress"]): void => {
    run.value = { ...run.peek(), progress };
    const kept = keep(run.peek());
    written = Promise.all([written, kept]);
    // Its fault is told by the next signature.
    written.catch(() => undefined);
  };
  const save = ({ dseq, fingerprint, step, chosen }: JournalEntry): void =>
    change({ dseq, fingerprint, step, chosen: [...chosen] });
  return {
    entries(owner, chainId) {
      const { progress, name: file, ...record } = run.peek();
      const isOurs = progress !== undefined && record.owner === owner && record.chainId === chainId;
      return isOurs ? [{ ...progress, owner, chainId, file }] : [];
    },
    create(entry) {
      save(entry);
      return true;
    },
    save,
    remove(dseq) {
      if (run.peek().progress?.dseq === dseq) change(undefined);
    },
    async written() {
      await written;
    },
  };
}
