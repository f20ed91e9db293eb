import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { CheckTx, CheckTxResult } from "../abci/index.ts";
import { signTx, type TestChain, type TestKey, testChain, testKey } from "../testing/index.ts";
import { MsgSendSchema } from "../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { AuthInfoSchema, TxRawSchema } from "../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeMessage, encodeTx, SignMode, signBytes } from "../wire/index.ts";

/** Reservations of waiting transactions, as an engine sees them that holds the claims. */

const HELD = 10_000n;

function newChain(): TestChain {
  const chain = testChain({ modules: () => [], coins: { utoken: HELD, stake: HELD } });
  chain.app.holdClaims();
  return chain;
}

interface Transfer {
  readonly from?: TestKey;
  readonly ahead?: bigint;
  readonly fee: bigint;
  readonly denom?: string;
  readonly amount?: bigint;
  readonly payer?: TestKey;
  readonly gas?: bigint;
}

function transfer(chain: TestChain, settings: Transfer): Uint8Array {
  const { from = chain.key("alice"), ahead = 0n, fee, denom = "utoken", amount = 1n, payer, gas = 100_000n } = settings;
  const message = create(MsgSendSchema, {
    fromAddress: from.address,
    toAddress: testKey("nobody").address,
    amount: [{ denom, amount: amount.toString() }],
  });
  const signers = [from, ...(payer === undefined ? [] : [payer])].map((key) => {
    const { accountNumber, sequence } = chain.account(key.address);
    return { key, accountNumber, sequence: sequence + ahead };
  });
  return signTx(chain.chainId, [message], signers, {
    gas,
    fee: [{ denom, amount: fee }],
    ...(payer === undefined ? {} : { payer: payer.address }),
  });
}

function check(chain: TestChain, tx: Uint8Array, more: Partial<CheckTx> = {}): CheckTxResult {
  return chain.app.checkTx({ tx, kind: "new", ...more });
}

test("trying a transaction leaves sequences and funds as they were", () => {
  const chain = newChain();
  const tx = transfer(chain, { fee: HELD });
  for (let i = 0; i < 3; i++) expect(check(chain, tx, { kind: "trial" }).code).toBe(0);
  expect(check(chain, transfer(chain, { fee: 1n, ahead: 1n }), { kind: "trial" }).code).toBe(32);
  expect(check(chain, tx).code).toBe(0);
});

test("checks report what a transaction takes, and no events", () => {
  const chain = newChain();
  const [alice, bob] = [chain.key("alice"), chain.key("bob")];
  const { claim, ...result } = check(chain, transfer(chain, { fee: 250n, payer: bob }));
  expect(result).toMatchObject({ code: 0, log: "[]", events: [], data: new Uint8Array() });
  expect(claim).toMatchObject({
    signers: [{ sequence: 0n }, { sequence: 0n }],
    fee: [{ denom: "utoken", amount: 250n }],
    gasPrice: 2_500_000_000_000_000n,
    timeoutHeight: 0n,
  });
  expect(claim?.payer).toBe(claim?.signers[1]?.account);
  expect(claim?.signers[0]?.account).not.toBe(claim?.payer);
  expect(check(chain, transfer(chain, { from: alice, fee: HELD })).claim?.fee).toEqual([
    { denom: "utoken", amount: HELD },
  ]);
});

test("nobody can have more waiting than they can pay for", () => {
  const chain = newChain();
  for (let i = 0n; i < 10n; i++) expect(check(chain, transfer(chain, { fee: 1_000n, ahead: i })).code).toBe(0);
  const beyond = check(chain, transfer(chain, { fee: 1n, ahead: 10n }));
  expect(beyond).toMatchObject({ code: 5, log: expect.stringContaining("0utoken is smaller than 1utoken") });
  expect(check(chain, transfer(chain, { fee: 1n, denom: "stake", ahead: 10n })).code).toBe(0);
});

test("a payer pays for all that it signs, whoever sends", () => {
  const chain = newChain();
  const [alice, bob, carol] = ["alice", "bob", "carol"].map((name) => chain.key(name));
  if (alice === undefined || bob === undefined || carol === undefined) throw new Error("no keys");
  expect(check(chain, transfer(chain, { from: alice, payer: carol, fee: 6_000n })).code).toBe(0);
  const second = (fee: bigint) => {
    const message = create(MsgSendSchema, {
      fromAddress: bob.address,
      toAddress: alice.address,
      amount: [{ denom: "utoken", amount: "1" }],
    });
    const signers = [bob, carol].map((key) => ({ key, ...chain.account(key.address) }));
    const [first, payer] = signers;
    if (first === undefined || payer === undefined) throw new Error("no signers");
    return signTx(chain.chainId, [message], [first, { ...payer, sequence: payer.sequence + 1n }], {
      fee: [{ denom: "utoken", amount: fee }],
      payer: carol.address,
    });
  };
  expect(check(chain, second(4_001n)).code).toBe(5);
  expect(check(chain, second(4_000n)).code).toBe(0);
});

test("a transaction that leaves gives back what it took", () => {
  const chain = newChain();
  const first = check(chain, transfer(chain, { fee: HELD }));
  expect(check(chain, transfer(chain, { fee: 1n, ahead: 1n })).code).toBe(5);
  if (first.claim !== undefined) chain.app.releaseClaim(first.claim);
  expect(check(chain, transfer(chain, { fee: HELD - 1n })).code).toBe(0);
});

test("a replacement takes the difference, and those behind it keep their sequence", () => {
  const chain = newChain();
  const { claim: place } = check(chain, transfer(chain, { fee: 1_000n }));
  check(chain, transfer(chain, { fee: 5_000n, ahead: 1n }));
  if (place === undefined) throw new Error("no claim");
  expect(check(chain, transfer(chain, { fee: 5_001n }), { place }).code).toBe(5);
  const { claim: raised, code } = check(chain, transfer(chain, { fee: 5_000n }), { place });
  expect(code).toBe(0);
  expect(check(chain, transfer(chain, { fee: 1n, ahead: 2n })).code).toBe(5);
  if (raised === undefined) throw new Error("no claim");
  expect(check(chain, transfer(chain, { fee: 2_000n }), { place: raised }).code).toBe(0);
  expect(check(chain, transfer(chain, { fee: 3_000n, ahead: 2n })).code).toBe(0);
});

test("a second transaction passes without the key that the first one brought", () => {
  const chain = newChain();
  const key = chain.key("alice");
  const keyless = () => {
    const raw = decodeMessage(TxRawSchema, transfer(chain, { fee: 1n }));
    const authInfo = decodeMessage(AuthInfoSchema, raw.authInfoBytes);
    for (const info of authInfo.signerInfos) {
      delete info.publicKey;
      info.sequence = 1n;
    }
    const parts = { bodyBytes: raw.bodyBytes, authInfoBytes: encodeMessage(AuthInfoSchema, authInfo) };
    const { accountNumber } = chain.account(key.address);
    const signer = { chainId: chain.chainId, accountNumber, sequence: 1n };
    return encodeTx(parts, [key.sign(signBytes(SignMode.DIRECT, parts, signer))]);
  };
  expect(check(chain, keyless())).toMatchObject({ code: 8, log: expect.stringContaining("no public key yet") });
  expect(check(chain, transfer(chain, { fee: 1n })).code).toBe(0);
  expect(check(chain, keyless()).code).toBe(0);
});

test("a commit names the accounts whose transactions may have become invalid", () => {
  const chain = newChain();
  const account = (name: string) =>
    check(chain, transfer(chain, { from: chain.key(name), fee: 1n }), { kind: "trial" });
  const ids = new Map(["alice", "bob", "carol"].map((name) => [name, account(name).claim?.signers[0]?.account ?? ""]));
  expect(new Set(ids.values()).size).toBe(3);
  const touched: unknown[] = [];
  const { commit } = chain.app;
  chain.app.commit = (alongside) => {
    touched.push(commit.call(chain.app, alongside));
    return touched.at(-1) as ReturnType<typeof commit>;
  };
  chain.mustSend(
    create(MsgSendSchema, {
      fromAddress: chain.key("alice").address,
      toAddress: chain.key("bob").address,
      amount: [{ denom: "utoken", amount: "1" }],
    }),
    { from: chain.key("alice") },
  );
  chain.nextBlock();
  const [sent, empty] = touched as Set<string>[];
  expect([...ids].map(([, id]) => sent?.has(id))).toEqual([true, true, false]);
  expect(empty?.size).toBe(0);
  expect([...(sent ?? [])].every((id) => /^[0-9a-f]{40}$/.test(id))).toBe(true);
});

test("one that waits passes again as long as its account can pay all that waits", () => {
  const chain = newChain();
  const txs = [0n, 1n, 2n].map((ahead) => transfer(chain, { fee: 3_000n, ahead }));
  const claims = txs.map((tx) => check(chain, tx).claim);
  const again = () =>
    txs.map((tx, i) => check(chain, tx, { kind: "recheck", ...(claims[i] && { place: claims[i] }) }).code);
  expect(again()).toEqual([0, 0, 0]);
  // The first transaction is in another block, and a further one takes the third's funds.
  expect(chain.block(txs.slice(0, 1))[0]?.code).toBe(0);
  if (claims[0] !== undefined) chain.app.releaseClaim(claims[0]);
  expect(again().slice(1)).toEqual([0, 0]);
  expect(chain.block([transfer(chain, { fee: 1n, amount: 2_000n })])[0]?.code).toBe(0);
  expect(again().slice(1)).toEqual([5, 5]);
});
