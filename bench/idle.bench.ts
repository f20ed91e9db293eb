/**
 * Bytes that a chain writes to disk for each empty block, as it grows: 60 blocks at each height, one a second where the first
 * argument says so.
 *
 *   npm run bench -- idle [milliseconds between blocks] [heights, comma separated]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { idleChain, writtenBytes } from "../test/support/idle-chain.ts";
import { Report } from "./lib/report.ts";

const BLOCKS = 60;
const KIB = 1024;

const [interval = "0", heights = "100,1000,5000,10500"] = process.argv.slice(2);
// Temporary folders may be in memory, which no disk is.
const home = mkdtempSync("/var/tmp/svc-bench-idle-");
try {
  const { engine, close } = idleChain(home);
  const method = `${BLOCKS} empty blocks of a chain with one bonded validator, on a disk: write_bytes of the process.`;
  const report = new Report("idle", method);
  for (const height of heights.split(",").map(BigInt)) {
    while (engine.blocks.height < height) engine.produceBlock();
    const samples: number[] = [];
    for (let run = 0; run < 5; run++) {
      const before = writtenBytes("write_bytes");
      for (let i = 0; i < BLOCKS; i++) {
        engine.produceBlock();
        if (Number(interval) > 0) await sleep(Number(interval));
      }
      samples.push((writtenBytes("write_bytes") - before) / BLOCKS / KIB);
    }
    report.add({ name: `an empty block from height ${height} on`, unit: "KiB", samples, target: { atMost: 100 } });
  }
  close();
  report.save();
} finally {
  rmSync(home, { recursive: true, force: true });
}
