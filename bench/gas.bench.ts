/**
 * What messages cost in CPU time for their gas, each at its dearest legal contents, and the worst block of the default
 * `max_gas` that they make.
 *
 *   npm run bench -- gas [part of a message's name, or blocks] [rounds]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_MAX_GAS } from "../src/abci/index.ts";
import { memoryDatabase, openLmdb } from "../src/store/index.ts";
import { CASES, databases } from "../test/gas/cases/index.ts";
import { filled, measureBlocks, measureCase } from "../test/gas/measure.ts";
import { smallDeployments, stateBytes } from "../test/gas/worst-block.ts";
import { Report } from "./lib/report.ts";

const [only = "", rounds = "5"] = process.argv.slice(2);
const report = new Report(
  "gas",
  "Blocks of the application with one kind of message each, at the dearest legal contents (test/gas/cases): decoding, " +
    "signatures, execution, end of the block and commit in memory, without what an empty block costs. The worst blocks are " +
    "as full as the default max_gas lets them be, committed to LMDB.",
);
/** Gas of a round: enough that the code is warm, as in full blocks. */
const ROUND_GAS = 1_000_000;
/** Full blocks of one kind of message that are measured, after one more that makes the code warm. */
const BLOCKS = 2;
/** The messages that are dearest for their gas, of those that need no large state before them. */
const FULL_BLOCKS: readonly (readonly [message: string, content: string])[] = [
  ["sdk.bank.v1beta1.MsgSend", "one coin to an account that is there"],
  ["sdk.bank.v1beta1.MsgSend", "one coin to a new account"],
  ["sdk.vesting.v1beta1.MsgCreateVestingAccount", "one kind of coins"],
  ["sdk.gov.v1.MsgVoteWeighted", "for four options"],
  ["sdk.gov.v1.MsgCancelProposal", "that nobody joined"],
  ["sdk.feegrant.v1beta1.MsgGrantAllowance", "a limit, to a new account"],
  ["sdk.feegrant.v1beta1.MsgPruneAllowances", "nothing has ended"],
  ["svc.market.v1beta1.MsgCreateBid", "a full group"],
  ["svc.market.v1beta1.MsgCloseBid", "an open one"],
];
const worst: number[] = [];
for (const [name, cases] of Object.entries(CASES)) {
  if (!name.includes(only)) continue;
  const short = name.slice(name.lastIndexOf(".") + 1);
  const best = cases.map((each) => {
    const measured = measureCase(filled(each, ROUND_GAS), Number(rounds));
    const label = `${short}: ${each.content} (${measured.gas} gas)`;
    report.add({ name: label, unit: "ms/Mgas", samples: measured.rounds });
    // What disturbs a round only ever adds to it.
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
  const dearest = (Math.max(...worst) * Number(DEFAULT_MAX_GAS)) / 1e6;
  report.add({
    name: "a block of the dearest message alone, by its best round: CPU",
    unit: "ms",
    samples: [dearest],
    target: { atMost: 1000 },
  });
}
if (only === "" || only === "blocks") {
  for (const [message, content] of FULL_BLOCKS) fullBlock(message, content);
  worstBlock();
}
if (only === "") report.save();

/** A block that one kind of message fills up to the default `max_gas`, from its bytes to its commit on disk. */
function fullBlock(message: string, content: string): void {
  const each = CASES[message]?.find((one) => one.content === content);
  if (each === undefined) throw new Error(`there is no case ${content} of ${message}`);
  const folders: string[] = [];
  databases.make = () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
    folders.push(folder);
    return openLmdb(folder);
  };
  try {
    const name = `a block full of ${message.slice(message.lastIndexOf(".") + 1)}, ${content}: CPU`;
    report.add({ name, unit: "ms", samples: measureBlocks(each, DEFAULT_MAX_GAS, BLOCKS), target: { atMost: 1000 } });
  } finally {
    databases.make = memoryDatabase;
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
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
