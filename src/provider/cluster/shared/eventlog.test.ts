import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLogger } from "../../../util/index.ts";
import type { ClusterEvent } from "../contract/driver.ts";
import { EventLog, streamEvents } from "./eventlog.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-events-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const event = (note: string, service = "web"): ClusterEvent => ({
  type: "Normal",
  reason: "Started",
  note,
  object: { kind: "Pod", namespace: "ns", name: "web-0" },
  service,
  time: "2026-01-01T00:00:00Z",
});

it("keeps the newest events over restarts, and the file bounded", () => {
  const log = new EventLog(folder, silentLogger);
  for (let i = 0; i < 2_600; i++) log.add("ns", event(String(i)));
  const reopened = new EventLog(folder, silentLogger).list("ns");
  expect(reopened).toHaveLength(500);
  expect(reopened.at(-1)?.note).toBe("2599");
  expect(readFileSync(join(folder, "ns.jsonl"), "utf8").split("\n").length).toBeLessThanOrEqual(1_001);
});

it("writes all that it has where a damaged disk left a folder", () => {
  const log = new EventLog(folder, silentLogger);
  log.add("ns", event("first"));
  rmSync(join(folder, "ns.jsonl"));
  mkdirSync(join(folder, "ns.jsonl"));
  for (const note of ["second", "third"]) log.add("ns", event(note));
  const reopened = new EventLog(folder, silentLogger).list("ns");
  expect(reopened.map(({ note }) => note)).toEqual(["first", "second", "third"]);
});

it("drops a line that a crash cut short", () => {
  new EventLog(folder, silentLogger).add("ns", event("whole"));
  const path = join(folder, "ns.jsonl");
  writeFileSync(path, `${readFileSync(path, "utf8")}{"type":"Nor`);
  expect(new EventLog(folder, silentLogger).list("ns").map((entry) => entry.note)).toEqual(["whole"]);
});

it("streams the past by tail and service, then what comes, until the log is removed", async () => {
  const log = new EventLog(folder, silentLogger);
  for (const note of ["a", "b", "c"]) log.add("ns", event(note));
  log.add("ns", event("other", "db"));
  const { signal } = new AbortController();
  const notes: string[] = [];
  for await (const { note } of streamEvents(log, "ns", { services: ["web"], follow: true, tail: 2, signal })) {
    notes.push(note);
    if (note === "c") {
      log.add("ns", event("skipped", "db"));
      log.add("ns", event("d"));
    }
    if (note === "d") log.remove("ns");
  }
  expect(notes).toEqual(["b", "c", "d"]);
});
