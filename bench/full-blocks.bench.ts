/**
 * The CPU time of whole blocks of the default `max_gas` that one kind of message fills at its most expensive legal
 * contents.
 *
 * npm run bench -- full-blocks [part of a message's name, or of "name: content"]...
 *
 * With parts of names it measures only the matching messages and keeps the recorded figures of the others.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_MAX_GAS } from "../src/abci/index.ts";
import { memoryDatabase, openLmdb } from "../src/store/index.ts";
import { CASES, crowd, databases } from "../test/gas/cases/index.ts";
import { measureBlocks } from "../test/gas/measure.ts";
import { smallDeployments, stateBytes } from "../test/gas/worst-block.ts";
import { Report } from "./lib/report.ts";

const parts = process.argv.slice(2);
const isWanted = (name: string): boolean => parts.length === 0 || parts.some((part) => name.includes(part));
const report = new Report(
  "full-blocks",
  "Each kind of message fills blocks up to the default max_gas: decoding, signatures, execution, end of the block and commit to " +
    "LMDB, nothing taken off. The cold block is the first of its kind, of an application opened anew on its database; signatures are " +
    "verified in the block, as in one that comes from elsewhere.",
);
/** Full blocks of one kind of message that are measured warm, after a cold one. */
const BLOCKS = 3;
/**
 * The messages that take the most time for their gas: the upper third, and the messages that fit most often into a
 * block.
 */
const FULL_BLOCKS: readonly (readonly [message: string, contents: readonly string[]])[] = [
  ["sdk.bank.v1beta1.MsgSend", ["one coin to an account that is there", "one coin to a new account"]],
  ["sdk.bank.v1beta1.MsgMultiSend", ["500 new accounts", "seven senders"]],
  ["sdk.vesting.v1beta1.MsgCreateVestingAccount", ["one kind of coins"]],
  ["sdk.vesting.v1beta1.MsgCreatePeriodicVestingAccount", ["500 periods"]],
  ["sdk.gov.v1.MsgSubmitProposal", ["a short text"]],
  ["sdk.gov.v1.MsgDeposit", ["to a text"]],
  ["sdk.gov.v1.MsgVoteWeighted", ["for four options"]],
  ["sdk.gov.v1.MsgCancelProposal", ["that nobody joined", "100 deposits and 100 votes"]],
  ["sdk.authz.v1beta1.MsgGrant", ["a generic one, to a new account"]],
  ["sdk.authz.v1beta1.MsgRevoke", ["a generic one"]],
  ["sdk.authz.v1beta1.MsgExec", ["100 transfers by a generic grant"]],
  ["sdk.feegrant.v1beta1.MsgGrantAllowance", ["a limit, to a new account"]],
  ["sdk.feegrant.v1beta1.MsgRevokeAllowance", ["a limit"]],
  ["sdk.feegrant.v1beta1.MsgPruneAllowances", ["nothing has ended"]],
  ["sdk.staking.v1beta1.MsgCreateValidator", ["with a short name"]],
  ["sdk.staking.v1beta1.MsgEditValidator", ["with a short name"]],
  ["sdk.slashing.v1beta1.MsgUnjail", ["of one that had too little of its own"]],
  ["sdk.distribution.v1beta1.MsgWithdrawValidatorCommission", ["coins of sixty kinds"]],
  ["sdk.distribution.v1beta1.MsgSetWithdrawAddress", ["another account each time"]],
  ["svc.provider.v1beta1.MsgCreateProvider", ["128 attributes of 3 bytes"]],
  ["svc.provider.v1beta1.MsgUpdateProvider", ["other short attributes, as many as there can be"]],
  ["svc.audit.v1beta1.MsgSignProviderAttributes", ["the most short attributes"]],
  ["svc.audit.v1beta1.MsgDeleteProviderAttributes", ["all of the most short attributes"]],
  ["svc.deployment.v1beta1.MsgCreateDeployment", ["one small group", "twenty small groups", "twenty full groups"]],
  ["svc.deployment.v1beta1.MsgUpdateDeployment", ["of one small group"]],
  ["svc.deployment.v1beta1.MsgDepositDeployment", ["beside 20 leases and 99 sponsors"]],
  ["svc.deployment.v1beta1.MsgCloseDeployment", ["20 leases and 100 sponsors", "20 groups with 20 bids each"]],
  ["svc.deployment.v1beta1.MsgCloseGroup", ["20 bids", "a lease beside 19 others and 100 sponsors"]],
  ["svc.deployment.v1beta1.MsgPauseGroup", ["20 bids"]],
  ["svc.deployment.v1beta1.MsgStartGroup", ["a full group", "a full group beside 19 leases and 100 sponsors"]],
  ["svc.market.v1beta1.MsgCreateBid", ["a full group"]],
  ["svc.market.v1beta1.MsgCloseBid", ["an open one", "a lease beside 19 others and 100 sponsors"]],
  ["svc.market.v1beta1.MsgCreateLease", ["one of 20 bids", "beside 19 leases and 100 sponsors"]],
  ["svc.market.v1beta1.MsgCloseLease", ["beside 19 others and 100 sponsors, with a new order"]],
  ["svc.market.v1beta1.MsgWithdrawLease", ["beside 19 others and 100 sponsors"]],
];
/** Accounts for messages that each can send only once. */
const CROWD = 1500;
/** Messages that need them. */
const BY_EACH = [
  "MsgCreateValidator",
  "MsgEditValidator",
  "MsgUnjail",
  "MsgWithdrawValidatorCommission",
  "svc.provider.",
  "svc.audit.",
];
/** The time that a whole block may take on two cores. */
const SECOND = { atMost: 1000 };

const needsCrowd = (message: string): boolean => BY_EACH.some((part) => message.includes(part));
const ordered = [...FULL_BLOCKS].sort(([a], [b]) => Number(needsCrowd(a)) - Number(needsCrowd(b)));
for (const [message, contents] of ordered) {
  for (const content of contents) {
    if (!isWanted(`${message}: ${content}`)) continue;
    if (needsCrowd(message)) crowd(CROWD);
    fullBlock(message, content);
    report.save(parts.length > 0);
  }
}
if (isWanted("a block full of deployments")) {
  worstBlock();
  report.save(parts.length > 0);
}

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
    const { cold, warm, gas, txs, isFull } = measureBlocks(each, DEFAULT_MAX_GAS, BLOCKS);
    const short = message.slice(message.lastIndexOf(".") + 1);
    const name = `${short}: ${content}${isFull ? "" : ", multiplied up"}`;
    report.add({
      name: `cold block of ${txs} x ${name} (${gas} gas): CPU`,
      unit: "ms",
      samples: [cold],
      target: SECOND,
    });
    report.add({ name: `warm blocks of ${txs} x ${name}: CPU`, unit: "ms", samples: warm, target: SECOND });
  } finally {
    databases.make = memoryDatabase;
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A block of deployments of one small group: the messages that make the most state for their gas and cost the most
 * time.
 */
function worstBlock(): void {
  const cpu: number[] = [];
  const bytes: number[] = [];
  for (let round = 0; round < 3; round++) {
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
    try {
      const database = openLmdb(folder);
      const { chain, txs } = smallDeployments({ database, maxGas: DEFAULT_MAX_GAS });
      const before = stateBytes(chain);
      globalThis.gc?.();
      const block = chain.block(txs);
      cpu.push(block.cpuMs);
      bytes.push(stateBytes(chain) - before);
      database.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  report.add({ name: "a block full of deployments: CPU", unit: "ms", samples: cpu, target: SECOND });
  report.add({ name: "a block full of deployments: state", unit: "bytes", samples: bytes });
}
