import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Journal, JournalEntry } from "../session/journal.ts";
import { FileJournal } from "./journal.ts";

let home: string;
let journal: Journal;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-journal-"));
  journal = new FileJournal(home);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const entry: JournalEntry = {
  dseq: 12n,
  owner: "svc1owner",
  chainId: "test-1",
  file: "/home/user/web.yaml",
  fingerprint: "ab",
  step: "order",
  chosen: [],
};

describe("the record of a deployment", () => {
  test("is kept in a file of its own, for its owner alone", () => {
    expect(journal.entries("svc1owner", "test-1")).toEqual([]);
    expect(journal.create(entry)).toBe(true);
    expect(journal.entries("svc1owner", "test-1")).toEqual([entry]);
    expect(statSync(join(home, "deployments", "12.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "deployments")).mode & 0o777).toBe(0o700);
  });

  test("takes its number once, whoever asks", () => {
    journal.create(entry);
    expect(journal.create({ ...entry, owner: "svc1other" })).toBe(false);
    expect(journal.entries("svc1owner", "test-1")).toEqual([entry]);
  });

  test("is replaced as a whole, and leaves nothing else behind", () => {
    journal.create(entry);
    const later: JournalEntry = { ...entry, step: "lease", chosen: [{ gseq: 1, provider: "svc1p" }] };
    journal.save(later);
    expect(journal.entries("svc1owner", "test-1")).toEqual([later]);
    expect(readdirSync(join(home, "deployments"))).toEqual(["12.json"]);
    journal.remove(12n);
    journal.remove(12n);
    expect(journal.entries("svc1owner", "test-1")).toEqual([]);
  });

  test("belongs to one account on one chain; they come by number", () => {
    for (const dseq of [100n, 9n, 20n]) journal.create({ ...entry, dseq });
    journal.create({ ...entry, dseq: 1n, owner: "svc1other" });
    journal.create({ ...entry, dseq: 2n, chainId: "test-2" });
    expect(journal.entries("svc1owner", "test-1").map(({ dseq }) => dseq)).toEqual([9n, 20n, 100n]);
  });

  test.each(["", "{", '{"format":2}', '{"format":1,"dseq":"x"}'])("refuses a malformed record: %s", (text) => {
    journal.create(entry);
    writeFileSync(join(home, "deployments", "12.json"), text);
    expect(() => journal.entries("svc1owner", "test-1")).toThrow("12.json: unreadable record of a deployment");
  });

  test("ignores other files, such as those of an interrupted write", () => {
    journal.create(entry);
    writeFileSync(join(home, "deployments", ".tmp-1"), "half");
    expect(journal.entries("svc1owner", "test-1")).toEqual([entry]);
  });
});
