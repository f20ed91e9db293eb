/**
 * What messages cost in CPU time for their gas, each at its dearest legal contents, and the worst block of the default
 * `max_gas` that they make.
 *
 *   npm run bench -- gas [part of a message's name] [rounds]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_MAX_GAS } from "../src/abci/index.ts";
import { openLmdb } from "../src/store/index.ts";
import { CASES } from "../test/gas/cases/index.ts";
import { filled, measureCase } from "../test/gas/measure.ts";
import { smallDeployments, stateBytes } from "../test/gas/worst-block.ts";
import { Report } from "./lib/report.ts";
import { median } from "./lib/stats.ts";

const [only = "", rounds = "5"] = process.argv.slice(2);
const report = new Report(
  "gas",
  "Blocks of the application with one kind of message each, at the dearest legal contents (test/gas/cases): decoding, " +
    "signatures, execution, end of the block and commit in memory, without what an empty block costs. The worst blocks are " +
    "as full as the default max_gas lets them be, committed to LMDB.",
);
/** Gas of a round: enough that the code is warm, as in full blocks. */
const ROUND_GAS = 1_000_000;
const worst: number[] = [];
for (const [name, cases] of Object.entries(CASES)) {
  if (!name.includes(only)) continue;
  const short = name.slice(name.lastIndexOf(".") + 1);
  const medians = cases.map((each) => {
    const measured = measureCase(filled(each, ROUND_GAS), Number(rounds));
    const label = `${short}: ${each.content} (${measured.gas} gas)`;
    report.add({ name: label, unit: "ms/Mgas", samples: measured.rounds });
    return median(measured.rounds);
  });
  worst.push(Math.max(...medians));
}
if (only === "") {
  const spread = Math.max(...worst) / Math.min(...worst);
  report.add({ name: "dearest to cheapest message", unit: "times", samples: [spread], target: { atMost: 10 } });
  const fullBlock = (Math.max(...worst) * Number(DEFAULT_MAX_GAS)) / 1e6;
  report.add({
    name: "a block of the dearest message alone: CPU",
    unit: "ms",
    samples: [fullBlock],
    target: { atMost: 1000 },
  });
  worstBlock();
  report.save();
}

/** A block of deployments of one small group, the messages that make most state for their gas and cost most time. */
function worstBlock(): void {
  const cpu: number[] = [];
  const bytes: number[] = [];
  for (let round = 0; round < 3; round++) {
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
    try {
      const database = openLmdb(folder);
      const { world, txs } = smallDeployments({ database, maxGas: DEFAULT_MAX_GAS });
      const before = stateBytes(world);
      globalThis.gc?.();
      const block = world.block(txs);
      cpu.push(block.cpuMs);
      bytes.push(stateBytes(world) - before);
      database.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  report.add({ name: "a block full of deployments: CPU", unit: "ms", samples: cpu, target: { atMost: 1000 } });
  report.add({ name: "a block full of deployments: state", unit: "bytes", samples: bytes });
}
