import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { createFile, makePrivateDirectory, readFileText, replaceFile } from "../../util/index.ts";
import { deployErrors } from "./errors.ts";

/** How far a deployment came. `order` means that its transaction may have been sent. */
export const JOURNAL_STEPS = ["order", "bid", "lease", "manifest", "ready", "done"] as const;
export type JournalStep = (typeof JOURNAL_STEPS)[number];

/** What is remembered of a deployment beside the chain's state: enough to go on after an interruption, no secrets. */
export interface JournalEntry {
  readonly dseq: bigint;
  readonly owner: string;
  readonly chainId: string;
  /** Absolute path of the deployment file. */
  readonly file: string;
  /** Of what the file asks for: groups and manifest. */
  readonly fingerprint: string;
  readonly step: JournalStep;
  /** Providers that were chosen, by group. */
  readonly chosen: readonly { readonly gseq: number; readonly provider: string }[];
}

const FORMAT = 1;
const MAX_ENTRY = 64 * 1024;

const schema = v.object({
  format: v.literal(FORMAT),
  dseq: v.pipe(v.string(), v.regex(/^[1-9]\d{0,19}$/)),
  owner: v.string(),
  chain_id: v.string(),
  file: v.string(),
  fingerprint: v.string(),
  step: v.picklist(JOURNAL_STEPS),
  chosen: v.array(v.object({ gseq: v.number(), provider: v.string() })),
});

/** The records of a home, one file for each deployment: `<home>/deployments/<dseq>.json`. */
export class Journal {
  readonly #dir: string;

  constructor(home: string) {
    this.#dir = join(home, "deployments");
  }

  /** Records of one account on one chain, oldest first. */
  entries(owner: string, chainId: string): JournalEntry[] {
    return this.#names()
      .map((name) => this.#read(name))
      .filter((entry) => entry.owner === owner && entry.chainId === chainId)
      .sort((a, b) => (a.dseq < b.dseq ? -1 : 1));
  }

  /** Records a new deployment; false when its number is taken, by whichever account or process. Durable on return. */
  create(entry: JournalEntry): boolean {
    makePrivateDirectory(this.#dir);
    return createFile(this.#path(entry.dseq), entryText(entry));
  }

  /** Replaces a record in one step. Durable on return. */
  save(entry: JournalEntry): void {
    makePrivateDirectory(this.#dir);
    replaceFile(this.#path(entry.dseq), entryText(entry));
  }

  remove(dseq: bigint): void {
    rmSync(this.#path(dseq), { force: true });
  }

  #path(dseq: bigint): string {
    return join(this.#dir, `${dseq}.json`);
  }

  #names(): string[] {
    try {
      return readdirSync(this.#dir).filter((name) => /^\d+\.json$/.test(name));
    } catch {
      return [];
    }
  }

  #read(name: string): JournalEntry {
    const path = join(this.#dir, name);
    const parsed = v.safeParse(schema, parse(readFileText(path, { maxBytes: MAX_ENTRY })));
    if (!parsed.success) {
      const hint = "move it away; the deployment itself is on the chain: svc query deployment list";
      throw deployErrors.journal(path, { hint });
    }
    const { chain_id: chainId, dseq, owner, file, fingerprint, step, chosen } = parsed.output;
    return { dseq: BigInt(dseq), owner, chainId, file, fingerprint, step, chosen };
  }
}

function entryText({ dseq, owner, chainId, file, fingerprint, step, chosen }: JournalEntry): string {
  const value = { format: FORMAT, dseq: `${dseq}`, owner, chain_id: chainId, file, fingerprint, step, chosen };
  return `${JSON.stringify(value)}\n`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
