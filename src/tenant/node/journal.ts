import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { createFile, makePrivateDirectory, readFileText, replaceFile, tryJson } from "../../util/index.ts";
import { deployErrors } from "../session/errors.ts";
import { JOURNAL_STEPS, type Journal, type JournalEntry } from "../session/journal.ts";

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
export class FileJournal implements Journal {
  readonly #dir: string;

  constructor(home: string) {
    this.#dir = join(home, "deployments");
  }

  entries(owner: string, chainId: string): JournalEntry[] {
    return this.#names()
      .map((name) => this.#read(name))
      .filter((entry) => entry.owner === owner && entry.chainId === chainId)
      .sort((a, b) => (a.dseq < b.dseq ? -1 : 1));
  }

  create(entry: JournalEntry): boolean {
    makePrivateDirectory(this.#dir);
    return createFile(this.#path(entry.dseq), entryText(entry));
  }

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
    const parsed = v.safeParse(schema, tryJson(readFileText(path, { maxBytes: MAX_ENTRY })));
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
