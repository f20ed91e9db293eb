import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { leaseOf } from "../../../../test/support/provider/leases.ts";
import { formatLeaseId } from "../../../wire/index.ts";
import { lockHome } from "../../config/home-lock.ts";

const LEASE = formatLeaseId(leaseOf(7n));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-evict-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const evict = (lease: string): ReturnType<typeof runCli> => runCli(["provider", "evict", lease, "-y", "--home", home]);

test("a home in which no provider has run has nothing to evict", async () => {
  expect(await evict(LEASE)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`no provider has ever run in ${home}`),
  });
});

test.each(["7", `${LEASE}/1`, LEASE.replace("/7/", "/0/"), "", "../../etc"])("%j is no lease", async (text) => {
  mkdirSync(join(home, "provider"), { recursive: true });
  expect(await evict(text)).toMatchObject({
    code: 2,
    err: expect.stringContaining("<owner>/<dseq>/<gseq>/<oseq>/<provider>"),
  });
});

test("a provider that runs is not robbed of a lease", async () => {
  mkdirSync(join(home, "provider"), { recursive: true });
  const lock = lockHome(join(home, "provider"), { text: "", hint: "" });
  expect(await evict(LEASE)).toMatchObject({
    code: 1,
    err: `Error: the provider of ${home} is running\nHint: stop it first\n`,
  });
  lock.release();
});
