import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../../tenant/index.ts";
import { type RunRecord, runJournal } from "./records.ts";

const OWNER = "svc1owner";
const CHAIN = "svc-test-1";

function record(): RunRecord {
  const file = { name: "web.yaml", text: "version: '2.0'" };
  return {
    id: "1",
    chainId: CHAIN,
    owner: OWNER,
    ...file,
    isChosen: false,
    begun: 0,
    progress: undefined,
    addresses: [],
  };
}

const entry = (dseq: bigint): JournalEntry => {
  return { dseq, owner: OWNER, chainId: CHAIN, file: "web.yaml", fingerprint: "ff", step: "order", chosen: [] };
};

describe("the journal of a run", () => {
  it("is the progress of its record, for its account and chain alone", () => {
    const run = signal(record());
    const journal = runJournal(run, async () => {});
    expect(journal.entries(OWNER, CHAIN)).toEqual([]);
    expect(journal.create(entry(7n))).toBe(true);
    journal.save({ ...entry(7n), step: "lease", chosen: [{ gseq: 1, provider: "svc1p" }] });
    const saved = { ...entry(7n), step: "lease", chosen: [{ gseq: 1, provider: "svc1p" }] };
    expect(journal.entries(OWNER, CHAIN)).toEqual([saved]);
    expect(journal.entries("svc1other", CHAIN)).toEqual([]);
    expect(journal.entries(OWNER, "svc-test-2")).toEqual([]);
    journal.remove(8n);
    expect(journal.entries(OWNER, CHAIN)).toEqual([saved]);
    journal.remove(7n);
    expect(run.value.progress).toBeUndefined();
  });

  it("is written when every change before is on disk", async () => {
    const kept: (() => void)[] = [];
    const journal = runJournal(signal(record()), () => new Promise((resolve) => void kept.push(resolve)));
    journal.create(entry(7n));
    journal.save({ ...entry(7n), step: "bid" });
    let isWritten = false;
    const written = journal.written().then(() => {
      isWritten = true;
    });
    kept[1]?.();
    await Promise.resolve();
    expect(isWritten).toBe(false);
    kept[0]?.();
    await written;
    expect(isWritten).toBe(true);
  });

  it("tells of a browser that keeps nothing before anything is signed", async () => {
    const journal = runJournal(signal(record()), () => Promise.reject(new Error("the disk is full")));
    journal.create(entry(7n));
    await expect(journal.written()).rejects.toThrow("the disk is full");
  });
});
