/**
 * CPU time of messages for their gas, each at its most expensive legal contents.
 *
 * npm run bench -- gas [part of a message's name] [rounds]
 */

import { CASES } from "../test/gas/cases/index.ts";
import { filled, measureCase } from "../test/gas/measure.ts";
import { Report } from "./lib/report.ts";

const [only = "", rounds = "5"] = process.argv.slice(2);
const report = new Report(
  "gas",
  "Blocks of the application with one kind of message each, at the dearest legal contents (test/gas/cases): decoding, " +
    "signatures, execution, end of the block and commit in memory, without what an empty block costs.",
);
/** Gas of a round: enough that the code is warm, as in full blocks. */
const ROUND_GAS = 1_000_000;
const worst: number[] = [];
for (const [name, cases] of Object.entries(CASES)) {
  if (!name.includes(only)) continue;
  const short = name.slice(name.lastIndexOf(".") + 1);
  const best = cases.map((each) => {
    const measured = measureCase(filled(each, ROUND_GAS), Number(rounds));
    const label = `${short}: ${each.content} (${measured.gas} gas)`;
    report.add({ name: label, unit: "ms/Mgas", samples: measured.rounds });
    // A disturbance of a round only ever adds to it.
    return Math.min(...measured.rounds);
  });
  worst.push(Math.max(...best));
}
if (only === "") {
  const spread = Math.max(...worst) / Math.min(...worst);
  report.add({
    name: "dearest to cheapest message, each by its best round",
    unit: "times",
    samples: [spread],
    target: { atMost: 10 },
  });
  report.save();
}
