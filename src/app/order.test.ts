import { expect, test } from "vitest";
import { DEFAULT_CONSENSUS_PARAMS } from "../abci/index.ts";
import type { Module } from "../runtime/index.ts";
import { memoryDatabase } from "../store/index.ts";
import { createApp, standardModules } from "./app.ts";

/** Nodes must agree on the order of modules, so a change of the order must change these lists too. */

const { modules, endBlockers = modules } = standardModules();

const named = (list: readonly Module[], has: (module: Module) => boolean) => list.filter(has).map(({ name }) => name);

test("modules are imported and exported in the order that is written down", () => {
  const order = [
    ...["auth", "bank", "consensus", "feegrant", "upgrade"],
    ...["mint", "distribution", "slashing", "evidence", "gov", "staking"],
    "authz",
    ...["provider", "audit", "escrow", "deployment", "market"],
    ...["cert", "genutil", "vesting"],
  ];
  expect(named(modules, () => true)).toEqual(order);
  const app = createApp({ database: memoryDatabase() });
  const consensusParams = DEFAULT_CONSENSUS_PARAMS;
  // The order of a file says nothing.
  const appState = { vesting: {}, bank: {}, auth: {} };
  app.initChain({ chainId: "test-1", time: 1n, initialHeight: 1n, validators: [], consensusParams, appState });
  const place = { lastCommit: { round: 0, votes: [] }, misbehavior: [], nextValidatorsHash: new Uint8Array(32) };
  const bytes = { proposer: new Uint8Array(20), hash: new Uint8Array(32) };
  app.finalizeBlock({ ...place, ...bytes, txs: [], height: 1n, time: 2n });
  app.commit();
  expect(Object.keys(app.exportGenesis())).toEqual(order);
});

test("items of a block run in the order that is written down", () => {
  expect(named(modules, ({ beginBlock }) => beginBlock !== undefined)).toEqual([
    // New coins join the fees before these are distributed, and both before penalties.
    ...["mint", "distribution", "slashing", "evidence", "staking", "authz"],
  ]);
  expect(named(endBlockers, ({ endBlock }) => endBlock !== undefined)).toEqual([
    // Votes end on the validators of the block before; money ends before the orders that it paid for.
    ...["feegrant", "gov", "staking", "escrow", "deployment", "market"],
  ]);
});

test("only the choice of voters and the punishment of double votes have to succeed", () => {
  expect(named(modules, ({ vital }) => vital?.includes("beginBlock") === true)).toEqual(["evidence"]);
  expect(named(endBlockers, ({ vital }) => vital?.includes("endBlock") === true)).toEqual(["staking"]);
});

test("only one module chooses the voters of the first block", () => {
  expect(named(modules, ({ genesisVoters }) => genesisVoters !== undefined)).toEqual(["staking"]);
});
