import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TxResult } from "../../abci/index.ts";
import {
  type SendSettings,
  type TestChain,
  type TestChainOptions,
  testChain,
  testKey,
  toAny,
} from "../../testing/index.ts";
import { fromHex } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { PubKeySchema as Ed25519PubKeySchema } from "../../wire/gen/sdk/crypto/ed25519/keys_pb.js";
import { Service } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import {
  AuthInfoSchema,
  type ModeInfo,
  ModeInfoSchema,
  type TxBody,
  TxBodySchema,
  TxRawSchema,
} from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  type Any,
  decodeMessage,
  encodeAddress,
  encodeAuthInfo,
  encodeMessage,
  encodeMultiSignature,
  encodeTx,
  encodeTxBody,
  makeAny,
  multiMode,
  multisigPublicKey,
  packAny,
  publicKeyAddress,
  publicKeyToAny,
  SignMode,
  signBytes,
} from "../../wire/index.ts";

/** Accounts and transfers alone. */
function newChain(options: TestChainOptions = {}): TestChain {
  return testChain({ modules: () => [], ...options });
}

const fee = [{ denom: "utoken", amount: 500n }];

function msgSend(from: string, to = testKey("nobody").address, amount = "1") {
  return create(MsgSendSchema, { fromAddress: from, toAddress: to, amount: [{ denom: "utoken", amount }] });
}

/** Checks and executes the same bytes on the same state: both must say the same. */
function outcome(chain: TestChain, tx: Uint8Array): Pick<TxResult, "code" | "codespace" | "log"> {
  const check = chain.app.checkTx({ tx, kind: "new" });
  const [result] = chain.block([tx]);
  expect(result?.code).toBe(check.code);
  if (check.code !== 0) expect(result?.log).toBe(check.log);
  return { code: result?.code ?? -1, codespace: result?.codespace ?? "", log: result?.log ?? "" };
}

/** A transfer of alice's, with settings. */
function transfer(chain: TestChain, settings: Partial<SendSettings> = {}): Uint8Array {
  const from = chain.key("alice");
  return chain.sign(msgSend(from.address), { from, fee, ...settings });
}

/** Changes the parts of a transaction, and optionally the signatures. */
function tampered(
  tx: Uint8Array,
  change: {
    readonly body?: Partial<Omit<TxBody, "$typeName" | "$unknown">>;
    readonly authInfo?: (info: ReturnType<typeof readAuthInfo>) => void;
    readonly signatures?: (old: readonly Uint8Array[]) => readonly Uint8Array[];
  },
): Uint8Array {
  const raw = decodeMessage(TxRawSchema, tx);
  const authInfo = readAuthInfo(raw.authInfoBytes);
  change.authInfo?.(authInfo);
  const body = decodeMessage(TxBodySchema, raw.bodyBytes);
  const bodyBytes = encodeMessage(TxBodySchema, { ...body, ...change.body });
  const parts = { bodyBytes, authInfoBytes: encodeMessage(AuthInfoSchema, authInfo) };
  return encodeTx(parts, change.signatures?.(raw.signatures) ?? raw.signatures);
}

function readAuthInfo(bytes: Uint8Array) {
  return decodeMessage(AuthInfoSchema, bytes);
}

/** The same signature with s replaced by n - s. */
function highS(signature: Uint8Array): Uint8Array {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).toString("hex")}`);
  return Buffer.concat([signature.subarray(0, 32), fromHex((order - s).toString(16).padStart(64, "0"))]);
}

describe("a transaction that is in order", () => {
  test("passes in both sign modes, with the alias spelling, and without its key once the chain knows it", () => {
    const chain = newChain();
    const from = chain.key("alice");
    expect(outcome(chain, transfer(chain)).code).toBe(0);
    expect(outcome(chain, transfer(chain, { mode: SignMode.LEGACY_AMINO_JSON, memo: "<&>\u2028 é" })).code).toBe(0);
    const alias = packAny(MsgSendSchema, msgSend(from.address), "cosmos");
    expect(outcome(chain, chain.sign(alias, { from })).code).toBe(0);
    const { accountNumber, sequence } = chain.account(from.address);
    const bodyBytes = encodeTxBody({ messages: [toAny(msgSend(from.address))] });
    const authInfoBytes = encodeAuthInfo({ amount: [], gasLimit: 100_000n }, [{ mode: SignMode.DIRECT, sequence }]);
    const bytes = signBytes(
      SignMode.DIRECT,
      { bodyBytes, authInfoBytes },
      { chainId: chain.chainId, accountNumber, sequence },
    );
    expect(outcome(chain, encodeTx({ bodyBytes, authInfoBytes }, [from.sign(bytes)])).code).toBe(0);
  });

  test("comes with no other key than the one the chain knows", () => {
    const chain = newChain();
    outcome(chain, transfer(chain));
    const strangers = publicKeyToAny(chain.key("bob").publicKey);
    const tx = withKey(transfer(chain, { mode: SignMode.LEGACY_AMINO_JSON }), strangers);
    expect(outcome(chain, tx)).toMatchObject({ code: 8, log: expect.stringContaining("pubKey does not match") });
  });

  test("takes the fee, counts up and keeps both when its message fails", () => {
    const chain = newChain();
    const from = chain.key("alice");
    const message = msgSend(from.address, undefined, (10n ** 13n).toString());
    const tx = chain.sign(message, { from, fee, gas: 200_000n });
    expect(chain.app.checkTx({ tx, kind: "new" }).code).toBe(0);
    const [result] = chain.block([tx]);
    expect(result).toMatchObject({
      code: 5,
      codespace: "sdk",
      log: "failed to execute message; message index: 0: 999999999500utoken is smaller than 10000000000000utoken: insufficient funds",
      gasWanted: 200_000n,
      data: new Uint8Array(0),
    });
    expect(result?.events.some(({ attributes }) => attributes.some(({ key }) => key === "msg_index"))).toBe(false);
    expect(result?.events.some(({ type }) => type === "transfer")).toBe(true);
    expect(chain.balance(from.address)).toBe(10n ** 12n - 500n);
    expect(chain.account(from.address).sequence).toBe(1n);
  });

  test("several of one account pass in one block, and check state follows", () => {
    const chain = newChain();
    const from = chain.key("alice");
    const { accountNumber } = chain.account(from.address);
    const txs = [0n, 1n, 2n].map((sequence) => signed(chain, { from, accountNumber, sequence }));
    for (const tx of txs) expect(chain.app.checkTx({ tx, kind: "new" }).code).toBe(0);
    expect(chain.block(txs.slice(0, 2)).map(({ code }) => code)).toEqual([0, 0]);
    expect(chain.app.checkTx({ tx: txs[2] ?? new Uint8Array(), kind: "recheck" })).toMatchObject({
      code: 0,
      claim: { signers: [{ sequence: 2n }] },
    });
    expect(chain.app.checkTx({ tx: txs[0] ?? new Uint8Array(), kind: "recheck" }).code).toBe(32);
  });

  test("a second signer and a fee payer of their own", () => {
    const chain = newChain();
    const [from, payer] = [chain.key("alice"), chain.key("bob")];
    const tx = chain.sign(msgSend(from.address), { from, with: [payer], fee, payer: payer.address });
    expect(outcome(chain, tx).code).toBe(0);
    expect(chain.balance(payer.address)).toBe(10n ** 12n - 500n);
    expect(chain.balance(from.address)).toBe(10n ** 12n - 1n);
    expect(chain.account(payer.address).sequence).toBe(1n);
  });
});

function signed(
  chain: TestChain,
  {
    from,
    accountNumber,
    sequence,
    chainId = chain.chainId,
  }: { from: ReturnType<typeof testKey>; accountNumber: bigint; sequence: bigint; chainId?: string },
): Uint8Array {
  const bodyBytes = encodeTxBody({ messages: [toAny(msgSend(from.address))] });
  const signer = { publicKey: publicKeyToAny(from.publicKey), mode: SignMode.DIRECT, sequence };
  const authInfoBytes = encodeAuthInfo({ amount: [], gasLimit: 100_000n }, [signer]);
  const parts = { bodyBytes, authInfoBytes };
  return encodeTx(parts, [from.sign(signBytes(SignMode.DIRECT, parts, { chainId, accountNumber, sequence }))]);
}

describe("bad transactions are refused alike by the mempool and in blocks, and change nothing", () => {
  const cases: readonly [string, (chain: TestChain) => Uint8Array, number, RegExp][] = [
    ["no bytes", () => new Uint8Array(), 2, /tx bytes are empty: tx parse error/],
    ["rubbish", () => Uint8Array.of(0, 0, 0), 2, /invalid length: tx parse error$/],
    ["too many bytes", () => new Uint8Array((1 << 20) + 1), 21, /1048577 > 1048576 bytes: tx too large/],
    ["no message", (c) => tampered(transfer(c), { body: { messages: [] } }), 18, /must contain at least one message/],
    [
      "an unknown type",
      (c) => tampered(transfer(c), { body: { messages: [makeAny("/x.Y", new Uint8Array())] } }),
      2,
      /unable to resolve type URL \/x\.Y/,
    ],
    [
      "no message type",
      (c) => tampered(transfer(c), { body: { messages: [publicKeyToAny(c.key("bob").publicKey)] } }),
      6,
      /no handler for "\/sdk\.crypto\.secp256k1\.PubKey"/,
    ],
    [
      "an extension",
      (c) => tampered(transfer(c), { body: { extensionOptions: [publicKeyToAny(c.key("bob").publicKey)] } }),
      31,
      /unknown extension options/,
    ],
    [
      "a memo of 257 bytes",
      (c) => transfer(c, { memo: "x".repeat(257) }),
      12,
      /maximum number of characters is 256 but received 257 characters: memo too large/,
    ],
    ["a memo counted in bytes", (c) => transfer(c, { memo: "é".repeat(129) }), 12, /received 258 characters/],
    [
      "a height that has passed",
      (c) => transfer(c, { timeoutHeight: c.height }),
      30,
      /block height: 2, timeout height: 1: tx timeout height/,
    ],
    [
      "a fee granter who granted nothing",
      (c) => transfer(c, { granter: c.key("bob").address }),
      38,
      /does not allow to pay fees for .*: not found/,
    ],
    [
      "a fee beyond the balance",
      (c) => transfer(c, { fee: [{ denom: "utoken", amount: 10n ** 13n }] }),
      5,
      /1000000000000utoken is smaller than 10000000000000utoken: insufficient funds/,
    ],
    [
      "a fee of another denomination",
      (c) => transfer(c, { fee: [{ denom: "stake", amount: 1n }] }),
      5,
      /0stake is smaller than 1stake/,
    ],
    [
      "a negative fee",
      (c) => transfer(c, { fee: [{ denom: "utoken", amount: -1n }] }),
      13,
      /invalid fee amount: -1utoken: insufficient fee/,
    ],
    [
      "an unsorted fee",
      (c) => transfer(c, { fee: [...fee, { denom: "stake", amount: 1n }] }),
      13,
      /invalid fee amount/,
    ],
    [
      "no gas",
      (c) => transfer(c, { gas: 0n }),
      11,
      /out of gas in location: txSize; gasWanted: 0, gasUsed: \d+: out of gas/,
    ],
    [
      "gas beyond 63 bits",
      (c) => transfer(c, { gas: 2n ** 63n }),
      18,
      /invalid gas supplied; 9223372036854775808 > 9223372036854775807/,
    ],
    ["no signature", (c) => tampered(transfer(c), { signatures: () => [] }), 15, /no signatures supplied/],
    [
      "a signature too many",
      (c) => tampered(transfer(c), { signatures: (old) => [...old, ...old] }),
      4,
      /wrong number of signers; expected 1, got 2/,
    ],
    [
      "no signer info",
      (c) => tampered(transfer(c), { authInfo: (info) => info.signerInfos.pop() }),
      4,
      /wrong number of signer infos/,
    ],
    [
      "an empty signature",
      (c) => tampered(transfer(c), { signatures: () => [new Uint8Array()] }),
      4,
      /signature verification failed/,
    ],
    [
      "a long signature",
      (c) =>
        tampered(transfer(c), { signatures: ([one]) => [Buffer.concat([one ?? new Uint8Array(), Buffer.alloc(1)])] }),
      4,
      /signature verification failed/,
    ],
    [
      "the high-S twin",
      (c) => tampered(transfer(c), { signatures: ([one]) => [highS(one ?? new Uint8Array())] }),
      4,
      /signature verification failed/,
    ],
    [
      "a changed memo",
      (c) => tampered(transfer(c), { body: { memo: "x" } }),
      4,
      /please verify account number \(1\) and chain-id \(test-1\): unauthorized$/,
    ],
    [
      "another chain",
      (c) => signed(c, { from: c.key("alice"), accountNumber: 1n, sequence: 0n, chainId: "test-2" }),
      4,
      /account number \(1\) and chain-id \(test-1\)/,
    ],
    [
      "another account number",
      (c) => signed(c, { from: c.key("alice"), accountNumber: 2n, sequence: 0n }),
      4,
      /signature verification failed/,
    ],
    [
      "a sequence ahead",
      (c) => signed(c, { from: c.key("alice"), accountNumber: 1n, sequence: 7n }),
      32,
      /account sequence mismatch, expected 0, got 7: incorrect account sequence/,
    ],
    [
      "an account that does not exist",
      (c) => signed(c, { from: testKey("nobody"), accountNumber: 1n, sequence: 0n }),
      9,
      /fee payer address: svc1\w+ does not exist: unknown address/,
    ],
    [
      "the key of somebody else",
      (c) => withKey(transfer(c), publicKeyToAny(c.key("bob").publicKey)),
      8,
      /pubKey does not match signer address svc1\w+ with signer index: 0: invalid pubkey/,
    ],
    [
      "an ed25519 key",
      (c) => withKey(transfer(c), packAny(Ed25519PubKeySchema, { key: new Uint8Array(32) })),
      8,
      /ed25519 keys belong to validators/,
    ],
    ["a first transaction without key", (c) => withKey(transfer(c), undefined), 8, /has no public key yet/],
    ["a mode that nobody knows", (c) => withMode(transfer(c), SignMode.TEXTUAL), 4, /unsupported sign mode/],
    [
      "an amino signature under direct mode",
      (c) => withMode(transfer(c, { mode: SignMode.LEGACY_AMINO_JSON }), SignMode.DIRECT),
      4,
      /signature verification failed/,
    ],
    [
      "somebody else's signature",
      (c) => c.sign(msgSend(c.key("bob").address), { from: c.key("alice") }),
      8,
      /pubKey does not match/,
    ],
  ];

  test.each(cases)("%s", (_name, make, code, text) => {
    const chain = newChain();
    const before = JSON.stringify(chain.app.exportGenesis());
    const result = outcome(chain, make(chain));
    expect(result).toMatchObject({ code, codespace: "sdk" });
    expect(result.log).toMatch(text);
    expect(JSON.stringify(chain.app.exportGenesis())).toBe(before);
  });

  test("random bytes and random changes of a good transaction", () => {
    const chain = newChain();
    const good = transfer(chain);
    const position = fc.nat(good.length - 1);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), position, fc.integer({ min: 1, max: 255 }), (noise, at, flip) => {
        const changed = Uint8Array.from(good);
        changed[at] = (changed[at] ?? 0) ^ flip;
        for (const tx of [noise, changed]) {
          const result = outcome(chain, tx);
          expect(result.code).toBeGreaterThan(0);
          expect(result.code).not.toBe(111222);
        }
      }),
      { numRuns: 200 },
    );
    expect(outcome(chain, good).code).toBe(0);
  });

  test("a replay, in the same block and later", () => {
    const chain = newChain();
    const tx = transfer(chain);
    expect(chain.block([tx, tx]).map(({ code }) => code)).toEqual([0, 32]);
    expect(outcome(chain, tx).log).toBe("account sequence mismatch, expected 1, got 0: incorrect account sequence");
  });
});

function withKey(tx: Uint8Array, key: Any | undefined): Uint8Array {
  return tampered(tx, {
    authInfo: ({ signerInfos: [info] }) => {
      if (info === undefined) return;
      if (key === undefined) delete info.publicKey;
      else info.publicKey = key;
    },
  });
}

function withMode(tx: Uint8Array, mode: SignMode): Uint8Array {
  return tampered(tx, {
    authInfo: ({ signerInfos: [info] }) => {
      if (info?.modeInfo?.sum.case === "single") info.modeInfo.sum.value.mode = mode;
    },
  });
}

describe("minimum gas prices", () => {
  test("hold for the mempool alone, in any one denomination", () => {
    const chain = newChain({ minGasPrices: "0.0025utoken,0.1stake", coins: { utoken: 10n ** 6n, stake: 10n ** 6n } });
    const check = (paid: SendSettings["fee"] = []) =>
      chain.app.checkTx({ tx: transfer(chain, { gas: 200_000n, fee: paid }), kind: "new" });
    expect(check().log).toBe("insufficient fees; got:  required: 500utoken,20000stake: insufficient fee");
    expect(check([{ denom: "utoken", amount: 499n }]).code).toBe(13);
    const many = Array.from({ length: 1_000 }, (_, i) => ({ denom: `d${`${i}`.padStart(9, "0")}`, amount: 1n }));
    const { code, log } = check(many);
    expect([code, log.length < 300]).toEqual([13, true]);
    expect(check([{ denom: "stake", amount: 20_000n }]).code).toBe(0);
    expect(chain.block([transfer(chain, { fee: [] })])[0]?.code).toBe(0);
  });
});

test("gas beyond that of a whole block is refused by the mempool, which could never put it into one", () => {
  const chain = newChain({ maxBlockGas: 1_000_000n });
  const check = (gas: bigint) => chain.app.checkTx({ tx: transfer(chain, { gas }), kind: "new" });
  expect(check(1_000_001n)).toMatchObject({ code: 41, codespace: "sdk" });
  expect(check(1_000_001n).log).toMatch(/^tx gas limit 1000001 exceeds block max gas 1000000/);
  expect(check(1_000_000n).code).toBe(0);
});

describe("multisig accounts", () => {
  const members = ["m1", "m2", "m3"].map(testKey);
  const key = multisigPublicKey(
    2,
    members.map(({ publicKey }) => ({
      type: "secp256k1",
      key: Buffer.from(publicKey.type === "multisig" ? [] : publicKey.key),
    })),
  );
  const address = encodeAddress(publicKeyAddress(key));

  function funded(): TestChain {
    const chain = newChain();
    chain.mustSend(msgSend(chain.key("alice").address, address, "1000"), { from: chain.key("alice") });
    return chain;
  }

  function multisigTx(
    chain: TestChain,
    flags: readonly boolean[],
    options: { mode?: ModeInfo; drop?: number; signMode?: SignMode; gas?: bigint } = {},
  ) {
    const { signMode = SignMode.LEGACY_AMINO_JSON, drop = 0, gas = 200_000n } = options;
    const { accountNumber, sequence } = chain.account(address);
    const bodyBytes = encodeTxBody({ messages: [toAny(msgSend(address))] });
    const signer = { publicKey: publicKeyToAny(key), mode: options.mode ?? multiMode(flags, signMode), sequence };
    const parts = { bodyBytes, authInfoBytes: encodeAuthInfo({ amount: [], gasLimit: gas }, [signer]) };
    const bytes = signBytes(signMode, parts, { chainId: chain.chainId, accountNumber, sequence });
    const signatures = members.filter((_, i) => flags[i] === true).map((member) => member.sign(bytes));
    return encodeTx(parts, [encodeMultiSignature(signatures.slice(drop))]);
  }

  test("enough members sign, in either mode", () => {
    const chain = funded();
    expect(outcome(chain, multisigTx(chain, [true, false, true]))).toMatchObject({ code: 0 });
    expect(outcome(chain, multisigTx(chain, [true, true, true], { signMode: SignMode.DIRECT }))).toMatchObject({
      code: 0,
    });
    expect(chain.balance(address)).toBe(998n);
  });

  test("a simulation wants a multisignature too, though nobody verifies it", () => {
    const chain = funded();
    const simulate = (txBytes: Uint8Array) => {
      const input = Service.method.simulate.input;
      const data = encodeMessage(input, create(input, { txBytes }));
      return chain.app.query({ path: "/sdk.tx.v1beta1.Service/Simulate", data, height: 0n, prove: false });
    };
    const flags = [true, true, false];
    const single = create(ModeInfoSchema, { sum: { case: "single", value: { mode: SignMode.DIRECT } } });
    expect(simulate(multisigTx(chain, flags))).toMatchObject({ code: 0 });
    // The reference's own client asks without bits.
    const bitless = create(ModeInfoSchema, { sum: { case: "multi", value: { modeInfos: [single, single] } } });
    expect(simulate(multisigTx(chain, flags, { mode: bitless }))).toMatchObject({ code: 0 });
    expect(simulate(multisigTx(chain, flags, { mode: single }))).toMatchObject({
      info: "sdk/4",
      log: expect.stringContaining("expected a multisignature, got a single one"),
    });
    expect(simulate(multisigTx(chain, flags, { drop: 1 }))).toMatchObject({ info: "sdk/4" });
  });

  test("every signing member costs gas", () => {
    const chain = funded();
    const txs = [
      [true, true, false],
      [true, true, true],
    ].map((flags) => multisigTx(chain, flags));
    // The second check is refused for its sequence, after the gas of its signatures was taken.
    const [two = 0n, three = 0n] = txs.map((tx) => chain.app.checkTx({ tx, kind: "new" }).gasUsed);
    const [short = 0, long = 0] = txs.map((tx) => tx.length);
    expect(three - two).toBe(10_000n + 10n * BigInt(long - short));
  });

  test.each<[string, readonly boolean[], Parameters<typeof multisigTx>[2], RegExp]>([
    ["too few", [true, false, false], {}, /not enough signatures set, have 1, expected 2: unauthorized/],
    ["a bit without signature", [true, true, false], { drop: 1 }, /1 signatures for 2 signing members/],
    [
      "a bit array of another size",
      [true, true, false],
      { mode: multiMode([true, true]) },
      /does not match the 3 keys/,
    ],
    ["one signature for all", [true, true, false], { mode: multiMode([]) }, /bit array/],
  ])("%s is refused", (_name, flags, options, text) => {
    const chain = funded();
    const result = outcome(chain, multisigTx(chain, flags, options));
    expect(result).toMatchObject({ code: 4, codespace: "sdk" });
    expect(result.log).toMatch(text);
  });

  test("more members than the limit are refused", () => {
    const many = Array.from({ length: 8 }, (_, i) => testKey(`many ${i}`));
    const big = multisigPublicKey(
      1,
      many.map(({ publicKey }) => ({
        type: "secp256k1",
        key: publicKey.type === "multisig" ? new Uint8Array() : publicKey.key,
      })),
    );
    const bigAddress = encodeAddress(publicKeyAddress(big));
    const chain = newChain();
    chain.mustSend(msgSend(chain.key("alice").address, bigAddress), { from: chain.key("alice") });
    const { accountNumber, sequence } = chain.account(bigAddress);
    const flags = many.map((_, i) => i === 0);
    const signer = { publicKey: publicKeyToAny(big), mode: multiMode(flags), sequence };
    const bodyBytes = encodeTxBody({ messages: [toAny(msgSend(bigAddress))] });
    const parts = { bodyBytes, authInfoBytes: encodeAuthInfo({ amount: [], gasLimit: 200_000n }, [signer]) };
    const bytes = signBytes(SignMode.LEGACY_AMINO_JSON, parts, { chainId: chain.chainId, accountNumber, sequence });
    const tx = encodeTx(parts, [encodeMultiSignature([many[0]?.sign(bytes) ?? new Uint8Array()])]);
    expect(outcome(chain, tx)).toMatchObject({
      code: 14,
      log: "signatures: 8, limit: 7: maximum number of signatures exceeded",
    });
  });
});
