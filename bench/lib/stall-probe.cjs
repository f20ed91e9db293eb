// Loaded into a node before its program (`--require`), in each of its threads: writes how long the event loop of the thread
// stood still, and when blocks were made, into a file of the thread beside this one.
const { channel } = require("node:diagnostics_channel");
const { appendFileSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { PerformanceObserver } = require("node:perf_hooks");
const { isMainThread, threadId, workerData } = require("node:worker_threads");

const EVERY_MS = 10;
const STALL_MS = 20;
const FLUSH_MS = 250;
const role = isMainThread ? "blocks" : (workerData?.role ?? "other");
const file = join(__dirname, `${role}-${threadId}.jsonl`);
let lines = [];

// Milliseconds on a core, and waiting for one, as the kernel counts them for this thread.
const scheduled = () => {
  const [ran, waited] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
};
const now = () => performance.timeOrigin + performance.now();
const note = (line) => lines.push(JSON.stringify(line));

let last = { at: now(), ...scheduled() };
setInterval(() => {
  const next = { at: now(), ...scheduled() };
  const ms = next.at - last.at - EVERY_MS;
  if (ms >= STALL_MS) {
    const [ranMs, waitedMs] = [next.ranMs - last.ranMs, next.waitedMs - last.waitedMs];
    note({ kind: "stall", from: last.at, to: next.at, ms, ranMs, waitedMs });
  }
  last = next;
}, EVERY_MS).unref();
setInterval(() => {
  if (lines.length === 0) return;
  appendFileSync(file, `${lines.join("\n")}\n`);
  lines = [];
}, FLUSH_MS).unref();
new PerformanceObserver((list) => {
  for (const { startTime, duration, detail } of list.getEntries())
    if (duration >= STALL_MS)
      note({ kind: "gc", from: performance.timeOrigin + startTime, ms: duration, of: detail?.kind });
}).observe({ entryTypes: ["gc"] });
if (isMainThread) channel("svc.block").subscribe((step) => note({ kind: "step", at: now(), ...step, ...scheduled() }));
