import { describe, expect, test } from "vitest";
import type { KeyInfo } from "../../../keyring/index.ts";
import { MsgSendSchema } from "../../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress, packAny, SignMode, secp256k1PublicKey } from "../../../wire/index.ts";
import { allFlags } from "../../command/command-line.ts";
import { type Parsed, resolveFlags } from "../../command/flags.ts";
import { TX_FLAGS } from "../../command/global-flags.ts";
import { OWN_PROFILE } from "../../command/profile.ts";
import { checkPayer, type NodeFacts, settle, type TxPlan } from "./plan.ts";
import { readTxSettings, type TxSettings } from "./settings.ts";

const FLAGS = allFlags({ name: "send", summary: "", flags: TX_FLAGS });
const ADDRESS = encodeAddress(new Uint8Array(20).fill(1), "account");
const OTHER = encodeAddress(new Uint8Array(20).fill(2), "account");
const MESSAGES = [packAny(MsgSendSchema, { fromAddress: ADDRESS, toAddress: OTHER })];
const keyOf = (first: number) => secp256k1PublicKey(Uint8Array.from([first, ...new Uint8Array(32).fill(7)]));
const [OWN_KEY, CHAIN_KEY] = [keyOf(2), keyOf(3)];

const CHAIN = { chainId: "x-1" };
const ACCOUNT = { accountNumber: 7n, sequence: 9n, publicKey: CHAIN_KEY };
const GAS = { gasLimit: 1234n, sequence: 9n };
const NUMBERS = { "account-number": "3", sequence: "5" };
const OFFLINE = { offline: true, "chain-id": "y-1", ...NUMBERS };

function settingsOf(flags: Readonly<Record<string, string | boolean>>): TxSettings {
  const parsed: Parsed = new Map(Object.entries(flags));
  return readTxSettings(resolveFlags(FLAGS, parsed, {}));
}

interface Case {
  readonly sent?: number;
  readonly key?: KeyInfo;
}

function plan(flags: Parameters<typeof settingsOf>[0], facts: NodeFacts, { sent = 0, key }: Case = {}): TxPlan {
  const sender = { address: ADDRESS, ...(key === undefined ? {} : { key }) };
  return settle({ settings: settingsOf(flags), sender, profile: OWN_PROFILE, messages: MESSAGES, sent }, facts);
}

/** The signed numbers and the gas limit of a plan that has a transaction. */
function numbers(planned: TxPlan) {
  if (!("tx" in planned)) throw new Error(`${planned.kind} has no transaction`);
  const { signer, fee } = planned.tx;
  return { kind: planned.kind, ...signer, gasLimit: fee.gasLimit, amount: fee.amount };
}

describe("the next step of a transaction", () => {
  const STEPS: readonly (readonly [string, Parameters<typeof settingsOf>[0], NodeFacts, Partial<TxPlan>])[] = [
    ["a send asks for the account", {}, {}, { kind: "ask", account: true }],
    ["with one number it still does", { sequence: "5" }, {}, { kind: "ask", account: true }],
    ["with both numbers only for the chain", NUMBERS, {}, { kind: "ask", account: false }],
    ["an account without its chain is not enough", {}, { account: ACCOUNT }, { kind: "ask", account: true }],
    ["a fixed gas limit is sent at once", {}, { ...CHAIN, account: ACCOUNT }, { kind: "send", confirm: true }],
    ["--yes leaves out the question", { yes: true }, { ...CHAIN, account: ACCOUNT }, { kind: "send", confirm: false }],
    ["--gas auto is simulated", { gas: "auto" }, { ...CHAIN, account: ACCOUNT }, { kind: "simulate" }],
    ["and then sent", { gas: "auto" }, { ...CHAIN, account: ACCOUNT, gas: GAS }, { kind: "send" }],
    ["--gas auto with both numbers asks for no account", { gas: "auto", ...NUMBERS }, CHAIN, { kind: "simulate" }],
    ["--generate-only needs no node", { "generate-only": true }, {}, { kind: "print" }],
    ["unless for its gas", { "generate-only": true, gas: "auto" }, {}, { kind: "ask", account: true }],
    [
      "which is printed",
      { "generate-only": true, gas: "auto" },
      { ...CHAIN, account: ACCOUNT, gas: GAS },
      { kind: "print" },
    ],
    ["--offline needs no node", OFFLINE, {}, { kind: "sign", confirm: true }],
    ["and no question with --yes", { ...OFFLINE, yes: true }, {}, { kind: "sign", confirm: false }],
    ["--offline --generate-only prints", { ...OFFLINE, "generate-only": true }, {}, { kind: "print" }],
    ["--dry-run asks", { "dry-run": true, ...NUMBERS }, {}, { kind: "ask", account: true }],
    ["simulates", { "dry-run": true }, { ...CHAIN, account: ACCOUNT }, { kind: "simulate" }],
    ["and sends nothing", { "dry-run": true }, { ...CHAIN, account: ACCOUNT, gas: GAS }, { kind: "done" }],
  ];

  test.each(STEPS)("%s", (_, flags, facts, expected) => {
    expect(plan(flags, facts)).toMatchObject(expected);
  });
});

describe("numbers", () => {
  test("are the chain's", () => {
    expect(numbers(plan({}, { ...CHAIN, account: ACCOUNT }))).toMatchObject({
      kind: "send",
      chainId: "x-1",
      accountNumber: 7n,
      sequence: 9n,
      gasLimit: 200_000n,
    });
  });

  test("of the flags go first, and are kept when the node refuses the sequence", () => {
    const planned = plan({ sequence: "5", "broadcast-mode": "block" }, { ...CHAIN, account: ACCOUNT });
    expect(numbers(planned)).toMatchObject({ accountNumber: 7n, sequence: 5n });
    expect(planned).toMatchObject({ handIn: { mode: "block", fixedSequence: true } });
    expect(plan({}, { ...CHAIN, account: ACCOUNT })).toMatchObject({ handIn: { mode: "sync", fixedSequence: false } });
  });

  test("count the transactions of the command", () => {
    expect(numbers(plan(OFFLINE, {}, { sent: 2 }))).toMatchObject({ chainId: "y-1", accountNumber: 3n, sequence: 7n });
    const unordered = { ...OFFLINE, unordered: true, "timeout-duration": "5m" };
    const { sequence: _, ...flags } = unordered;
    expect(numbers(plan(flags, {}, { sent: 2 }))).toMatchObject({ sequence: 0n });
  });

  test("are those with which the simulation succeeded", () => {
    const gas = { gasLimit: 1234n, sequence: 11n };
    const flags = { gas: "auto", "gas-prices": "0.5utoken" };
    expect(numbers(plan(flags, { ...CHAIN, account: ACCOUNT, gas }))).toMatchObject({
      sequence: 11n,
      gasLimit: 1234n,
      amount: [{ denom: "utoken", amount: 617n }],
    });
  });
});

describe("a simulation", () => {
  const facts = { ...CHAIN, account: ACCOUNT };
  const key: KeyInfo = { name: "a", type: "local", publicKey: OWN_KEY, address: new Uint8Array(20) };

  test("has the key of the sender, or the chain's", () => {
    expect(plan({ gas: "auto" }, facts, { key })).toMatchObject({ estimate: { signer: { publicKey: OWN_KEY } } });
    expect(plan({ gas: "auto" }, facts)).toMatchObject({
      estimate: { signer: { address: ADDRESS, publicKey: CHAIN_KEY } },
    });
  });

  test("has the fees and the factor of the flags, and keeps their sequence", () => {
    const planned = plan({ gas: "auto", fees: "5utoken", "gas-adjustment": "1.5", sequence: "5" }, facts, { sent: 1 });
    expect(planned).toMatchObject({
      estimate: {
        gasAdjustment: 15n * 10n ** 17n,
        options: { fees: [{ denom: "utoken", amount: 5n }], sequence: 6n },
      },
    });
    expect(numbers(planned)).toMatchObject({ sequence: 6n, gasLimit: 0n });
    expect(plan({ gas: "auto" }, facts)).not.toHaveProperty("estimate.options.sequence");
  });
});

test("the mode of the flags is signed, and names are those of the profile", () => {
  const planned = plan({ "sign-mode": "amino-json" }, { ...CHAIN, account: ACCOUNT });
  expect(planned).toMatchObject({
    tx: { signMode: SignMode.LEGACY_AMINO_JSON, namespace: "sdk", signer: { aminoNames: "current" } },
  });
});

test("another fee payer has to sign as well, so the transaction can only be printed", () => {
  const check = (flags: Parameters<typeof settingsOf>[0]) => () =>
    checkPayer(settingsOf({ "fee-payer": OTHER, ...flags }), { address: ADDRESS });
  expect(check({})).toThrow(`--fee-payer: ${OTHER} must sign as well as ${ADDRESS}`);
  expect(check(OFFLINE)).toThrow("must sign as well");
  expect(check({ "generate-only": true })).not.toThrow();
  expect(check({ "dry-run": true })).not.toThrow();
  expect(check({ "fee-payer": ADDRESS })).not.toThrow();
});
