/** How far a deployment has come. `order` means that its transaction may have been sent. */
export const JOURNAL_STEPS = ["order", "bid", "lease", "manifest", "ready", "done"] as const;
export type JournalStep = (typeof JOURNAL_STEPS)[number];

/** The record of a deployment besides the chain's state: enough to continue after an interruption, no secrets. */
export interface JournalEntry {
  readonly dseq: bigint;
  readonly owner: string;
  readonly chainId: string;
  /** Absolute path of the deployment file. */
  readonly file: string;
  /** Hash of the file's groups and manifest. */
  readonly fingerprint: string;
  readonly step: JournalStep;
  /** Providers that were chosen, by group. */
  readonly chosen: readonly { readonly gseq: number; readonly provider: string }[];
}

/** The records of deployments that were begun. */
export interface Journal {
  /** Records of one account on one chain, oldest first. */
  entries(owner: string, chainId: string): readonly JournalEntry[];
  /** Records a new deployment; false when its number is taken, by whichever account or process. Durable on return. */
  create(entry: JournalEntry): boolean;
  /** Replaces a record in one step. Durable on return. */
  save(entry: JournalEntry): void;
  remove(dseq: bigint): void;
}

/** A journal that lasts as long as the program; it begins with the entries of an earlier one. */
export function memoryJournal(entries: readonly JournalEntry[] = []): Journal {
  const kept = new Map(entries.map((entry) => [entry.dseq, entry]));
  return {
    entries: (owner, chainId) =>
      [...kept.values()]
        .filter((entry) => entry.owner === owner && entry.chainId === chainId)
        .sort((a, b) => (a.dseq < b.dseq ? -1 : 1)),
    create(entry) {
      if (kept.has(entry.dseq)) return false;
      kept.set(entry.dseq, entry);
      return true;
    },
    save: (entry) => void kept.set(entry.dseq, entry),
    remove: (dseq) => void kept.delete(dseq),
  };
}
