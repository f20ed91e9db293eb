import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../../../util/index.ts";
import type { DriverContext } from "../context.ts";
import type { ObservedPod } from "../view/pods.ts";
import { KEPT_CHARACTERS, PreviousLogs } from "./previous.ts";

const POD = { namespace: "lease", name: "web-1" } as unknown as ObservedPod;

describe("the log of a replica that is replaced", () => {
  let stateDir = "";
  let next: () => Readable;
  let logs: PreviousLogs;
  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), "svc-previous-"));
    logs = new PreviousLogs({
      stateDir,
      log: silentLogger,
      api: { podLog: async () => next() },
    } as unknown as DriverContext);
  });
  afterEach(() => rmSync(stateDir, { recursive: true }));

  /** The kept part of a log with these lines, which breaks off at the end. */
  async function kept(lines: readonly string[], breaksOff: boolean): Promise<string[]> {
    next = () =>
      Readable.from(
        (function* () {
          for (const line of lines) yield Buffer.from(`2026-01-02T03:04:05.000000001Z ${line}\n`);
          if (breaksOff) throw new Error("reset");
        })(),
      );
    await logs.keep("web-0", POD);
    return logs.lines("lease", "web-0").map(({ text }) => text);
  }

  it("is kept to its end, or as far as it came", async () => {
    expect(await kept(["one", "two"], false)).toEqual(["one", "two"]);
    expect(await kept(["three"], true)).toEqual(["three"]);
  });

  it("is kept in place of the one before, unless nothing could be read", async () => {
    expect(await kept(["one"], false)).toEqual(["one"]);
    expect(await kept([], true)).toEqual(["one"]);
    expect(await kept([], false)).toEqual([]);
  });

  it("is kept up to its bound, in its last lines, however long they are", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(KEPT_CHARACTERS / 4, "."));
    expect(await kept(lines, false)).toEqual(lines.slice(-4));
    const longest = "x".repeat(2 * KEPT_CHARACTERS);
    const [only = ""] = await kept(["one", longest], false);
    expect(only.length).toBeLessThan(longest.length);
    expect(only).toMatch(/^x+ \[line cut\]$/);
  });
});
