import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { flipBits } from "../../../../test/support/provider/damage.ts";
import { leaseOf } from "../../../../test/support/provider/leases.ts";
import { Rng } from "../../../../test/support/rng.ts";
import { silentLogger } from "../../../util/index.ts";
import { leaseNamespace } from "../../cluster/index.ts";
import { newRecord } from "./record.ts";
import { LeaseStore } from "./store.ts";

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "svc-records-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = (dseq: bigint) => join(folder, `${leaseNamespace(leaseOf(dseq))}.json`);
  return { path, open: () => new LeaseStore(folder, silentLogger) };
}

test("no change of a file becomes a record that nobody made", () => {
  const rng = new Rng(Math.floor(Math.random() * 2 ** 32));
  const { open, path } = setUp();
  const record = newRecord(leaseOf(1n), 1_700_000_000_000);
  open().save(record);
  const whole = readFileSync(path(1n));
  for (let round = 0; round < 100; round++) {
    writeFileSync(path(1n), whole);
    const change = flipBits(path(1n), (count) => rng.below(count));
    expect([[record], []], `seed ${rng.seed}: ${change}`).toContainEqual(open().load());
  }
});

test("what was set aside of a lease goes with it", () => {
  const { open, path } = setUp();
  const store = open();
  for (const dseq of [1n, 2n]) store.save(newRecord(leaseOf(dseq), 0));
  writeFileSync(path(1n), "{");
  rmSync(path(2n));
  mkdirSync(path(2n));
  expect(store.load()).toEqual([]);
  for (const dseq of [1n, 2n]) store.remove(leaseOf(dseq));
  expect(readdirSync(dirname(path(1n)))).toEqual([]);
});

test("a digit that became another is seen", () => {
  const { open, path } = setUp();
  open().save(newRecord(leaseOf(1n), 1_700_000_000_000));
  const text = readFileSync(path(1n), "utf8");
  writeFileSync(path(1n), text.replace("1700000000000", "1700000000001"));
  expect(open().load()).toEqual([]);
});

test("the record of a lease is not taken for that of another", () => {
  const { open, path } = setUp();
  const records = [1n, 2n].map((dseq) => newRecord(leaseOf(dseq), 0));
  for (const record of records) open().save(record);
  renameSync(path(1n), path(2n));
  expect(open().load()).toEqual([]);
});
