import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import {
  type ModelRun,
  type ModelStep,
  modelSimulation,
  type Outcome,
} from "../../../test/support/simulation/model.ts";
import type { SimRandom } from "../../../test/support/simulation/operation.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress } from "../../wire/index.ts";

/** Coins that are plenty, scarce, and not to be sent. */
const DENOMS = ["uscarce", NATIVE_DENOM, "zstill"];
const HELD = { uscarce: 40n, [NATIVE_DENOM]: 1_000_000n, zstill: 500n };
const HOLDERS = ["alice", "bob", "carol", "dave", "erin"];
/** They have nothing at first. */
const NEWCOMERS = ["frank", "grace"];
const MODULE = encodeAddress(moduleAddress("gov"));
const FEES = ["fee_collector", "distribution"].map((name) => encodeAddress(moduleAddress(name)));

type Purse = Map<string, bigint>;
type Coins = readonly { readonly denom: string; readonly amount: bigint }[];

/** All balances, as a table. */
class Ledger {
  readonly purses = new Map<string, Purse>();
  fees = 0n;

  held(address: string, denom: string): bigint {
    return this.purses.get(address)?.get(denom) ?? 0n;
  }

  move(address: string, coins: Coins, sign: 1n | -1n): void {
    const purse = this.purses.get(address) ?? new Map();
    this.purses.set(address, purse);
    for (const { denom, amount } of coins) purse.set(denom, (purse.get(denom) ?? 0n) + sign * amount);
  }

  has(address: string, coins: Coins): boolean {
    return coins.every(({ denom, amount }) => this.held(address, denom) >= amount);
  }

  /** Takes a fee, which stays taken whatever becomes of the messages. */
  pay(address: string, fee: bigint): boolean {
    const coins = [{ denom: NATIVE_DENOM, amount: fee }];
    if (!this.has(address, coins)) return false;
    this.move(address, coins, -1n);
    this.fees += fee;
    return true;
  }
}

function start(random: SimRandom): ModelRun {
  const chain = testChain({
    accounts: HOLDERS,
    coins: HELD,
    genesis: {
      bank: {
        params: { default_send_enabled: true, send_enabled: [{ denom: "zstill", enabled: false }] },
        balances: HOLDERS.map((name) => ({
          address: testKey(name).address,
          coins: DENOMS.map((denom) => ({ denom, amount: `${HELD[denom as keyof typeof HELD]}` })),
        })),
      },
    },
  });
  const ledger = new Ledger();
  const everybody = [...HOLDERS, ...NEWCOMERS].map(testKey);
  for (const name of HOLDERS)
    ledger.move(
      testKey(name).address,
      Object.entries(HELD).map(([denom, amount]) => ({ denom, amount })),
      1n,
    );
  const supply = new Map(DENOMS.map((denom) => [denom, HELD[denom as keyof typeof HELD] * BigInt(HOLDERS.length)]));
  return {
    chain,
    actors: () => everybody.filter(({ address }) => ledger.purses.has(address)),
    plan: (from) => (random.int(3) === 0 ? multiSend(ledger, random, from) : send(ledger, random, from)),
    compare: () => {
      for (const { address } of everybody)
        for (const denom of DENOMS) expect(chain.balance(address, denom)).toBe(ledger.held(address, denom));
      expect(FEES.reduce((sum, address) => sum + chain.balance(address), 0n)).toBe(ledger.fees);
      const total = chain.query(Query.method.totalSupply, {}).supply;
      expect(new Map(total.map(({ denom, amount }) => [denom, BigInt(amount)]))).toEqual(supply);
    },
  };
}

/** One or two coins, sorted; at times more than any account has. */
function someCoins(random: SimRandom): Coins {
  const denoms = DENOMS.filter((_, i) => random.int(i === 2 ? 12 : 2) === 0);
  const picked = denoms.length > 0 ? denoms : [NATIVE_DENOM];
  return picked.map((denom) => ({ denom, amount: BigInt(1 + random.int(random.pick([9, 60, 2_000_000]))) }));
}

function receiver(random: SimRandom): string {
  if (random.int(15) === 0) return MODULE;
  return testKey(random.pick([...HOLDERS, ...NEWCOMERS]) ?? "").address;
}

const messages = (coins: Coins) => coins.map(({ denom, amount }) => ({ denom, amount: `${amount}` }));

function send(ledger: Ledger, random: SimRandom, { address }: TestKey): ModelStep {
  const [coins, to, fee] = [someCoins(random), receiver(random), BigInt(1 + random.int(900))];
  return {
    name: "send",
    message: create(MsgSendSchema, { fromAddress: address, toAddress: to, amount: messages(coins) }),
    settings: { fee: [{ denom: NATIVE_DENOM, amount: fee }] },
    apply: () => transfer(ledger, { from: address, fee, outputs: [{ to, coins }], coins }),
  };
}

/** From one to several; at times the sums differ. */
function multiSend(ledger: Ledger, random: SimRandom, { address }: TestKey): ModelStep {
  const coins = someCoins(random);
  const outputs = Array.from({ length: 1 + random.int(3) }, () => ({ to: receiver(random), coins }));
  const isUneven = random.int(10) === 0;
  const all = coins.map(({ denom, amount }) => ({
    denom,
    amount: amount * BigInt(outputs.length) + (isUneven ? 1n : 0n),
  }));
  const fee = BigInt(1 + random.int(900));
  return {
    name: "multi-send",
    message: create(MsgMultiSendSchema, {
      inputs: [{ address, coins: messages(all) }],
      outputs: outputs.map(({ to }) => ({ address: to, coins: messages(coins) })),
    }),
    settings: { fee: [{ denom: NATIVE_DENOM, amount: fee }] },
    apply: () => (isUneven ? "bank/4" : transfer(ledger, { from: address, fee, outputs, coins: all })),
  };
}

interface Transfer {
  readonly from: string;
  readonly fee: bigint;
  readonly outputs: readonly { readonly to: string; readonly coins: Coins }[];
  readonly coins: Coins;
}

function transfer(ledger: Ledger, { from, fee, outputs, coins }: Transfer): Outcome {
  if (!ledger.pay(from, fee)) return "sdk/5";
  if (coins.some(({ denom }) => denom === "zstill")) return "bank/5";
  if (outputs.some(({ to }) => to === MODULE)) return "sdk/4";
  if (!ledger.has(from, coins)) return "sdk/5";
  ledger.move(from, coins, -1n);
  for (const output of outputs) ledger.move(output.to, output.coins, 1n);
  return "done";
}

modelSimulation({
  name: "bank",
  seed: 5001,
  blocks: 150,
  wanted: ["send: done", "multi-send: done", "send: sdk/5", "send: sdk/4", "send: bank/5", "multi-send: bank/4"],
  start,
});
