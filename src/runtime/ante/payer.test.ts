import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { signTx, type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { SignMode } from "../../wire/gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { AuthInfoSchema, ModeInfoSchema, TxRawSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { type Any, decodeMessage, encodeMessage, encodeTx, makeAny, packAny, typeUrlOf } from "../../wire/index.ts";
import { MAX_AMINO_BYTES, READ_WHOLE_BYTES } from "./payer.ts";

/**
 * Large transactions with a last message that cannot be read: a sender whose refusal names it had the messages read;
 * all others were refused before.
 */

const UNREADABLE = /^2: varint overflow/;
const BYTES = 590_000;
/** Enough for the bytes. */
const GAS = 10n * BigInt(BYTES) + 200_000n;

interface Change {
  readonly from?: TestKey;
  readonly payer?: TestKey;
  readonly sequence?: bigint;
  readonly accountNumber?: bigint;
  readonly fee?: bigint;
  readonly gas?: bigint;
  readonly mode?: SignMode;
  readonly bytes?: number;
  readonly messages?: readonly Any[];
}

function newChain(): TestChain {
  return testChain({ modules: () => [], minGasPrices: "0.001utoken", maxBlockGas: 100_000_000n });
}

function send(from: TestKey): Any {
  const amount = [{ denom: "utoken", amount: "1" }];
  return packAny(MsgSendSchema, create(MsgSendSchema, { fromAddress: from.address, toAddress: from.address, amount }));
}

function signer(chain: TestChain, key: TestKey) {
  const exists = chain.keys.get(key.name) !== undefined;
  return { key, ...(exists ? chain.account(key.address) : { accountNumber: 99n, sequence: 0n }) };
}

function large(chain: TestChain, change: Change = {}): Uint8Array {
  const { from = chain.key("alice"), payer, fee = 100_000n, gas = GAS, mode, bytes = BYTES } = change;
  const broken = makeAny(typeUrlOf(MsgSendSchema), new Uint8Array(bytes).fill(0xff));
  const signers = [from, ...(payer === undefined ? [] : [payer])].map((key) => {
    const { sequence, accountNumber, ...rest } = signer(chain, key);
    const chosen = change.sequence ?? sequence;
    return { ...rest, sequence: chosen, accountNumber: change.accountNumber ?? accountNumber };
  });
  return signTx(chain.chainId, change.messages ?? [send(from), broken], signers, {
    gas,
    fee: [{ denom: "utoken", amount: fee }],
    ...(mode === undefined ? {} : { mode }),
    ...(payer === undefined ? {} : { payer: payer.address }),
  });
}

function refusal(chain: TestChain, tx: Uint8Array): string {
  const { code, log } = chain.app.checkTx({ tx, kind: "new" });
  return `${code}: ${log}`;
}

describe("of a large transaction no message is read", () => {
  const poor = testKey("nobody");
  const cases: readonly [string, (chain: TestChain) => Uint8Array, RegExp][] = [
    [
      "before its signer is known to exist",
      (c) => large(c, { from: poor }),
      /^9: fee payer address: svc1\w+ does not exist/,
    ],
    [
      "before its payer is known to exist",
      (c) => large(c, { payer: poor }),
      /^9: fee payer address: svc1\w+ does not exist/,
    ],
    [
      "before its sequence fits",
      (c) => large(c, { sequence: 4n }),
      /^32: account sequence mismatch, expected 0, got 4/,
    ],
    ["before its fee is enough", (c) => large(c, { fee: 1n }), /^13: insufficient fees/],
    [
      "before its gas is enough for its size",
      (c) => large(c, { gas: 100_000n }),
      /^11: out of gas in location: txSize/,
    ],
    [
      "when its gas is beyond that of a block",
      (c) => large(c, { gas: 10n ** 9n, fee: 10n ** 9n }),
      /^41: tx gas limit/,
    ],
    ["before its fee can be paid", (c) => large(c, { fee: 10n ** 13n }), /^5: .*insufficient funds/],
    ["before it is known to be signed", (c) => large(c, { accountNumber: 7n }), /^4: signature verification failed/],
    [
      "before its payer is known to have signed it",
      (c) => forged(large(c, { payer: c.key("bob") })),
      /^4: signature verification failed/,
    ],
    [
      "when it is signed as amino JSON, which would mean to read it all",
      (c) =>
        large(c, {
          messages: Array.from({ length: 5000 }, () => send(c.key("alice"))),
          mode: SignMode.LEGACY_AMINO_JSON,
          gas: 10_000_000n,
        }),
      /^21: \d+ > 65536 bytes of a transaction signed as amino JSON: tx too large/,
    ],
    [
      "when its first message names nobody",
      (c) =>
        large(c, {
          messages: [packAny(MsgSendSchema, {}), send(c.key("alice")), makeAny("/x.Y", new Uint8Array(9000))],
        }),
      /^15: /,
    ],
    [
      "when its first message is of no known type",
      (c) => large(c, { messages: [makeAny("/x.Y", new Uint8Array(9000))] }),
      /^2: /,
    ],
  ];

  test.each(cases)("%s", (_name, make, text) => {
    const chain = newChain();
    expect(refusal(chain, make(chain))).toMatch(text);
  });
});

/** The last signature belongs to another key. */
function forged(tx: Uint8Array): Uint8Array {
  const raw = decodeMessage(TxRawSchema, tx);
  const [first] = raw.signatures;
  return encodeTx(
    raw,
    raw.signatures.map(() => first ?? new Uint8Array()),
  );
}

describe("of a transaction that is said to be signed as amino JSON no message is read", () => {
  const said = (c: TestChain, signatures: (good: Uint8Array) => Uint8Array, change: Change = {}): Uint8Array => {
    const raw = decodeMessage(TxRawSchema, large(c, { bytes: 50_000, ...change }));
    const authInfo = decodeMessage(AuthInfoSchema, raw.authInfoBytes);
    for (const info of authInfo.signerInfos)
      info.modeInfo = create(ModeInfoSchema, {
        sum: { case: "single", value: { mode: SignMode.LEGACY_AMINO_JSON } },
      });
    return encodeTx({ ...raw, authInfoBytes: encodeMessage(AuthInfoSchema, authInfo) }, raw.signatures.map(signatures));
  };
  const same = (good: Uint8Array): Uint8Array => good;
  const cases: readonly [string, (chain: TestChain) => Uint8Array, RegExp][] = [
    ["without a signature", (c) => said(c, () => new Uint8Array()), /^4: signature verification failed/],
    ["with zeros for a signature", (c) => said(c, () => new Uint8Array(64)), /^4: signature verification failed/],
    ["with a byte too many", (c) => said(c, (good) => Buffer.concat([good, good]).subarray(0, 65)), /^4: signature/],
    ["with another sequence", (c) => said(c, same, { sequence: 4n }), /^32: .*expected 0, got 4/],
    [
      "when none of its signatures can be one",
      (c) => said(c, () => new Uint8Array(64), { payer: c.key("bob") }),
      /^4: signature verification failed/,
    ],
  ];

  test.each(cases)("%s", (_name, make, text) => {
    const chain = newChain();
    const tx = make(chain);
    expect(tx.length).toBeGreaterThan(READ_WHOLE_BYTES);
    expect(tx.length).toBeLessThan(MAX_AMINO_BYTES);
    expect(refusal(chain, tx)).toMatch(text);
  });

  test("unless its signature has the form of one", () => {
    const chain = newChain();
    expect(refusal(chain, said(chain, same))).toMatch(UNREADABLE);
    expect(refusal(chain, said(chain, same, { payer: chain.key("bob") }))).toMatch(UNREADABLE);
  });
});

describe("when somebody is there who pays", () => {
  test("the messages are read", () => {
    const chain = newChain();
    expect(refusal(chain, large(chain))).toMatch(UNREADABLE);
    expect(refusal(chain, large(chain, { payer: chain.key("bob") }))).toMatch(UNREADABLE);
  });

  test("a large transaction passes, in both modes, with a payer of its own, and in the place of a cheaper one", () => {
    const chain = newChain();
    const [from, payer] = [chain.key("alice"), chain.key("bob")];
    const messages = Array.from({ length: 100 }, () => send(from));
    chain.app.holdClaims();
    const check = (change: Change) => {
      const tx = large(chain, { from, messages, gas: 2_000_000n, ...change });
      expect(tx.length).toBeGreaterThan(8_000);
      return chain.app.checkTx({ tx, kind: "new" });
    };
    const first = check({});
    expect(first.code).toBe(0);
    expect(check({ sequence: 1n, mode: SignMode.LEGACY_AMINO_JSON }).code).toBe(0);
    const again = check({ fee: 200_000n });
    expect(again).toMatchObject({ code: 32, claim: { signers: first.claim?.signers } });
    expect(again.log).toContain("expected 2, got 0");
    // Alice pays behind her own two; Bob has sent nothing before.
    const bobs = Array.from({ length: 100 }, () => send(payer));
    const late = { from: payer, payer: from, messages: bobs, sequence: 2n };
    expect(check(late)).toMatchObject({ code: 32, log: expect.stringContaining("expected 0, got 2") });
  });
});

test("what stands beside the body has a limit, for everybody alike", () => {
  const chain = newChain();
  const raw = decodeMessage(TxRawSchema, large(chain, { messages: [send(chain.key("alice"))] }));
  const many = encodeTx(
    raw,
    Array.from({ length: 17_000 }, () => new Uint8Array()),
  );
  const text = /^\d+ > 32768 bytes of signers, fee and signatures: tx too large$/;
  expect(chain.app.checkTx({ tx: many, kind: "new" })).toMatchObject({ code: 21, log: expect.stringMatching(text) });
  expect(chain.block([many])[0]).toMatchObject({ code: 21, log: expect.stringMatching(text) });
});
