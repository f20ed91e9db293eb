import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { MAX_AMINO_BYTES } from "../../runtime/ante/payer.ts";
import { type SentTx, type TestChain, testChain, testKey } from "../../testing/index.ts";
import { signTx } from "../../testing/signed.ts";
import { toHex } from "../../util/index.ts";
import { MsgExecSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  AllowedMsgAllowanceSchema,
  BasicAllowanceSchema,
  PeriodicAllowanceSchema,
} from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { Query } from "../../wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import {
  MsgGrantAllowanceSchema,
  MsgPruneAllowancesSchema,
  MsgRevokeAllowanceSchema,
} from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { type Any, fromNanos, packAny, typeUrlOf, unpackAs } from "../../wire/index.ts";
import { MAX_ALLOWED_MESSAGES, MAX_LIMIT_COINS, MAX_TYPE_URL_CHARACTERS } from "./allowance.ts";
import { MAX_PRUNED } from "./keeper.ts";

const SECOND = 1_000_000_000n;
const START = 10n ** 12n;
const SEND = typeUrlOf(MsgSendSchema);
const utoken = (amount: bigint | number) => ({ denom: "utoken", amount: amount.toString() });
const at = (nanos: bigint) => create(TimestampSchema, fromNanos(nanos));
const basic = (limit?: number, expiration?: bigint) =>
  packAny(BasicAllowanceSchema, {
    spendLimit: limit === undefined ? [] : [utoken(limit)],
    ...(expiration === undefined ? {} : { expiration: at(expiration) }),
  });
const periodic = (change: MessageInitShape<typeof PeriodicAllowanceSchema>) => {
  const ten = { periodSpendLimit: [utoken(10)], periodCanSpend: [utoken(10)] };
  const init = { basic: {}, period: { seconds: 60n }, ...ten, ...change };
  return packAny(PeriodicAllowanceSchema, init as MessageInitShape<typeof PeriodicAllowanceSchema>);
};
const limited = (allowance: Any, ...allowedMessages: string[]) =>
  packAny(AllowedMsgAllowanceSchema, { allowance, allowedMessages });

function start(chain: TestChain = testChain()) {
  const address = (name: string) => chain.keys.get(name)?.address ?? testKey(name).address;
  const granting = (allowance: Any | undefined, to = "bob", from = "alice") =>
    packAny(MsgGrantAllowanceSchema, {
      granter: address(from),
      grantee: address(to),
      ...(allowance === undefined ? {} : { allowance }),
    });
  const grant = (allowance: Any | undefined, to = "bob") =>
    chain.send(granting(allowance, to), { from: chain.key("alice") });
  const send = (from = "bob") =>
    packAny(MsgSendSchema, { fromAddress: address(from), toAddress: address("carol"), amount: [utoken(1)] });
  const settings = (fee: number) => ({
    from: chain.key("bob"),
    fee: fee === 0 ? [] : [{ denom: "utoken", amount: BigInt(fee) }],
    granter: address("alice"),
  });
  const pay = (fee: number, message = send()): SentTx => chain.send(message, settings(fee));
  const revoke = () =>
    chain.send(packAny(MsgRevokeAllowanceSchema, { granter: address("alice"), grantee: address("bob") }), {
      from: chain.key("alice"),
    });
  const allowance = () =>
    chain.query(Query.method.allowance, { granter: address("alice"), grantee: address("bob") }).allowance?.allowance;
  return { chain, address, granting, grant, send, settings, pay, revoke, allowance };
}

const failure = ({ codespace, code }: SentTx) => `${codespace}/${code}`;

describe("a fee granter", () => {
  test("pays what the grantee's transactions cost", () => {
    const { chain, address, grant, pay, revoke } = start();
    expect(failure(pay(5))).toBe("sdk/38");
    expect(grant(basic()).logs[0]?.events.map(({ type }) => type)).toContain("set_feegrant");
    const paid = pay(5);
    expect(paid.code).toBe(0);
    expect(chain.balance(address("alice"))).toBe(START - 5n);
    expect(chain.balance(address("bob"))).toBe(START - 1n);
    expect(paid.events.map(({ type }) => type)).toEqual(expect.arrayContaining(["use_feegrant", "update_feegrant"]));
    const payer = paid.events.flatMap(({ attributes }) => attributes).find(({ key }) => key === "fee_payer");
    expect(payer?.value).toBe(address("alice"));
    expect(revoke().code).toBe(0);
    expect(failure(pay(5))).toBe("sdk/38");
    expect(failure(revoke())).toBe("sdk/38");
  });

  test("needs no allowance for itself, and must have an account and the coins", () => {
    const { chain, granting, send, grant, pay } = start();
    const own = chain.send(send("alice"), { ...start(chain).settings(5), from: chain.key("alice") });
    expect(own.code).toBe(0);
    const stranger = { ...start(chain).settings(5), granter: testKey("stranger").address };
    expect(failure(chain.send(send(), stranger))).toBe("sdk/9");
    grant(basic());
    expect(failure(pay(Number(START)))).toBe("sdk/5");
    expect(chain.send(granting(basic(), "alice"), { from: chain.key("alice") }).code).toBe(7);
  });

  test("pays for a failed transaction too, out of the allowance", () => {
    const { chain, address, grant, pay, allowance } = start();
    grant(basic(10));
    const tooMuch = packAny(MsgSendSchema, {
      fromAddress: address("bob"),
      toAddress: address("carol"),
      amount: [utoken(10n ** 13n)],
    });
    expect(failure(pay(4, tooMuch))).toBe("sdk/5");
    expect(unpackAs(BasicAllowanceSchema, allowance())?.spendLimit).toMatchObject([utoken(6)]);
    expect(chain.balance(address("alice"))).toBe(START - 4n);
  });

  test("is asked before a large transaction is read", () => {
    const { chain, send, settings } = start();
    const many = Array.from({ length: 600 }, () => send());
    const tx = chain.sign(many, { ...settings(5), gas: 10n ** 8n });
    expect(tx.length).toBeGreaterThan(MAX_AMINO_BYTES);
    expect(chain.app.checkTx({ tx, kind: "new" })).toMatchObject({ codespace: "sdk", code: 38 });
  });
});

describe("a basic allowance", () => {
  test("is used up to its limit and then gone", () => {
    const { grant, pay, allowance } = start();
    grant(basic(10));
    expect(failure(pay(11))).toBe("feegrant/2");
    expect(pay(4).code).toBe(0);
    expect(unpackAs(BasicAllowanceSchema, allowance())?.spendLimit).toMatchObject([utoken(6)]);
    const last = pay(6);
    expect(last.events.map(({ type }) => type)).toContain("revoke_feegrant");
    expect(() => allowance()).toThrow("not found");
  });

  test("is good in the block of its end, and not after", () => {
    const { chain, grant, pay } = start();
    grant(basic(undefined, chain.time + 18n * SECOND));
    expect(pay(1).code).toBe(0);
    expect(pay(1).code).toBe(0);
    expect(failure(pay(1))).toBe("sdk/38");
  });

  test("is there once, and can be given anew when it is gone", () => {
    const { chain, grant, revoke, pay } = start();
    grant(basic(10, chain.time + 30n * SECOND));
    expect(failure(grant(basic(10)))).toBe("sdk/18");
    expect(revoke().code).toBe(0);
    expect(grant(basic(10)).code).toBe(0);
    // The end of the first one must not take the second.
    chain.nextBlock(6);
    expect(pay(1).code).toBe(0);
  });

  test.each<[string, (chain: TestChain) => Any | undefined, string]>([
    ["nothing", () => undefined, "feegrant/5"],
    ["something else", () => packAny(MsgSendSchema, {}), "feegrant/5"],
    ["a limit of nothing", () => basic(0), "sdk/10"],
    ["an end in the past", (chain) => basic(1, chain.time), "sdk/18"],
    ["an end before 1970", () => basic(1, -1n), "feegrant/4"],
    ["an end beyond all times", () => basic(1, 253_402_300_800n * SECOND), "feegrant/4"],
    [
      "too many denominations",
      () =>
        packAny(BasicAllowanceSchema, {
          spendLimit: Array.from({ length: MAX_LIMIT_COINS + 1 }, (_, i) => ({
            denom: `coin${String(i).padStart(3, "0")}`,
            amount: "1",
          })),
        }),
      "sdk/10",
    ],
  ])("of %s is refused", (_, make, code) => {
    const { chain, grant } = start();
    expect(failure(grant(make(chain)))).toBe(code);
  });
});

describe("a periodic allowance", () => {
  test("begins anew at the end of each period", () => {
    const { chain, grant, pay, send, settings, allowance } = start();
    const reset = chain.time + 24n * SECOND;
    grant(periodic({ periodReset: at(reset) }));
    expect(pay(10).code).toBe(0);
    expect(failure(pay(1))).toBe("feegrant/2");
    expect(chain.time).toBe(reset - 12n * SECOND);
    chain.nextBlock();
    // The mempool knows the time of the last block alone.
    expect(failure(pay(10))).toBe("feegrant/2");
    expect(chain.block([chain.sign(send(), settings(10))])[0]?.code).toBe(0);
    expect(chain.time).toBe(reset);
    expect(unpackAs(PeriodicAllowanceSchema, allowance())?.periodReset).toEqual(at(reset + 60n * SECOND));
    expect(failure(pay(1))).toBe("feegrant/2");
  });

  test("begins from now when more than a period has passed", () => {
    const { chain, grant, pay, allowance } = start();
    grant(periodic({ periodReset: at(chain.time - 3600n * SECOND) }));
    expect(pay(3).code).toBe(0);
    const left = unpackAs(PeriodicAllowanceSchema, allowance());
    expect(left).toMatchObject({ periodCanSpend: [utoken(7)], periodReset: at(chain.time + 60n * SECOND) });
  });

  test("ends with the limit in all, which may be less than that of a period", () => {
    const { grant, pay } = start();
    grant(periodic({ basic: { spendLimit: [utoken(15)] }, periodReset: at(0n) }));
    expect(pay(10).code).toBe(0);
    expect(pay(5).code).toBe(2);
  });

  test("pays the rest of the limit in a new period", () => {
    const { chain, grant, pay, allowance } = start();
    grant(periodic({ basic: { spendLimit: [utoken(15)] }, period: { seconds: 6n }, periodReset: at(0n) }));
    expect(pay(10).code).toBe(0);
    expect(failure(pay(6))).toBe("feegrant/2");
    chain.nextBlock();
    expect(pay(5).code).toBe(0);
    expect(() => allowance()).toThrow("not found");
  });

  test.each([
    ["a negative period", { period: { seconds: -1n } }, "feegrant/4"],
    ["a period of 292 years", { period: { seconds: 9_223_372_036n } }, "feegrant/4"],
    ["no limit", { periodSpendLimit: [] }, "sdk/10"],
    ["another denomination", { basic: { spendLimit: [{ denom: "stake", amount: "1" }] } }, "sdk/10"],
    ["a reset beyond all times", { periodReset: { seconds: 253_402_300_800n } }, "feegrant/4"],
  ])("with %s is refused", (_, change, code) => {
    const { grant } = start();
    expect(failure(grant(periodic(change)))).toBe(code);
  });
});

describe("an allowance for some messages", () => {
  test("pays for these alone, in either spelling", () => {
    const { address, grant, send, pay } = start();
    grant(limited(basic(10), "/cosmos.bank.v1beta1.MsgSend"));
    expect(pay(1).code).toBe(0);
    const exec = packAny(MsgExecSchema, { grantee: address("bob"), msgs: [send()] });
    expect(failure(pay(1, exec))).toBe("feegrant/7");
    expect(pay(9).code).toBe(0);
    expect(failure(pay(1))).toBe("sdk/38");
  });

  test("of messages that carry others pays for what they carry", () => {
    const { address, grant, send, pay } = start();
    grant(limited(basic(10), typeUrlOf(MsgExecSchema)));
    expect(failure(pay(1))).toBe("feegrant/7");
    expect(pay(1, packAny(MsgExecSchema, { grantee: address("bob"), msgs: [send()] })).code).toBe(0);
  });

  test.each([
    ["no messages", limited(basic(1)), "feegrant/6"],
    ["another one inside", limited(limited(basic(1), SEND), SEND), "sdk/18"],
    ["no allowance inside", packAny(AllowedMsgAllowanceSchema, { allowedMessages: [SEND] }), "feegrant/5"],
    ["too many", limited(basic(1), ...Array(MAX_ALLOWED_MESSAGES + 1).fill(SEND)), "sdk/18"],
    ["a long one", limited(basic(1), `/${"x".repeat(MAX_TYPE_URL_CHARACTERS)}`), "sdk/18"],
  ])("with %s is refused", (_, allowance, code) => {
    const { grant } = start();
    expect(failure(grant(allowance))).toBe(code);
  });
});

describe("the mempool", () => {
  test("lets no more in than an allowance pays for, and releases what it counted", () => {
    const { chain, grant, send, settings } = start();
    grant(basic(10));
    chain.app.holdClaims();
    const key = chain.key("bob");
    const { accountNumber, sequence } = chain.account(key.address);
    const txs = [0n, 1n, 2n].map((i) =>
      signTx(chain.chainId, [send()], [{ key, accountNumber, sequence: sequence + i }], settings(5)),
    );
    const [first, second, third] = txs.map((tx) => chain.app.checkTx({ tx, kind: "new" }));
    expect([first?.code, second?.code]).toEqual([0, 0]);
    expect(third).toMatchObject({ codespace: "feegrant", code: 2 });
    for (const each of [first, second]) if (each?.claim !== undefined) chain.app.releaseClaim(each.claim);
    const [again] = txs.map((tx) => chain.app.checkTx({ tx, kind: "new" }));
    expect(again?.code).toBe(0);
  });

  test("looks again at those who would have spent when an allowance changes", () => {
    const { chain, grant, revoke } = start();
    grant(basic(10));
    const touched: string[] = [];
    const commit = chain.app.commit.bind(chain.app);
    chain.app.commit = (alongside) => {
      const found = commit(alongside);
      if (found !== "all") touched.push(...found);
      return found;
    };
    revoke();
    expect(touched).toContain(toHex(chain.key("bob").bytes));
  });
});

describe("expired allowances", () => {
  test("leave at the end of blocks, a bounded number at a time, and by a message", () => {
    const { chain, address, granting } = start();
    const end = chain.time + 12n * SECOND;
    const count = MAX_PRUNED + 100;
    const messages = Array.from({ length: count }, (_, i) => granting(basic(1, end), `grantee ${i}`));
    chain.mustSend(messages, { from: chain.key("alice"), gas: 10n ** 8n });
    const left = () =>
      chain.query(Query.method.allowancesByGranter, { granter: address("alice"), pagination: { limit: 1000n } })
        .allowances.length;
    expect(left()).toBe(count);
    chain.nextBlock();
    expect(left()).toBe(100);
    const pruned = chain.mustSend(packAny(MsgPruneAllowancesSchema, { pruner: address("bob") }), {
      from: chain.key("bob"),
      gas: 10n ** 7n,
    });
    expect(pruned.logs[0]?.events.at(-1)?.type).toBe("prune_feegrant");
    expect(left()).toBe(0);
  });
});

describe("genesis", () => {
  test("is exported and imported again", () => {
    const { chain, grant } = start();
    grant(basic(5, chain.time + 3600n * SECOND));
    grant(limited(periodic({ periodReset: at(0n) }), SEND), "carol");
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
    expect(first).toMatchObject({ feegrant: { allowances: [{}, {}] } });
  });

  test("takes what is left of an allowance, one of its two denominations used up", () => {
    const { chain, grant, send, settings, allowance } = start(testChain({ coins: { utoken: START, uother: START } }));
    const both = (amount: number) => [{ denom: "uother", amount: `${amount}` }, utoken(amount)];
    grant(periodic({ basic: { spendLimit: both(10) }, periodSpendLimit: both(10), periodCanSpend: both(10) }));
    const fee = [
      { denom: "uother", amount: 10n },
      { denom: "utoken", amount: 1n },
    ];
    expect(chain.send(send(), { ...settings(0), fee }).code).toBe(0);
    expect(unpackAs(PeriodicAllowanceSchema, allowance())?.basic?.spendLimit).toMatchObject([utoken(9)]);
    // The fees leave the collector.
    chain.nextBlock();
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });
});
