import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { moduleAddress } from "../../crypto/index.ts";
import { MAX_MESSAGE_NESTING } from "../../runtime/index.ts";
import { type SentTx, type TestChain, testChain, testKey } from "../../testing/index.ts";
import { GenericAuthorizationSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { Query } from "../../wire/gen/sdk/authz/v1beta1/query_pb.js";
import {
  MsgExecResponseSchema,
  MsgExecSchema,
  MsgGrantSchema,
  MsgRevokeSchema,
} from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { AuthorizationType, StakeAuthorizationSchema } from "../../wire/gen/sdk/staking/v1beta1/authz_pb.js";
import { MsgDelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { type Any, encodeAddress, fromNanos, packAny, typeUrlOf, unpackAs } from "../../wire/index.ts";
import { MAX_PRUNED } from "./keeper.ts";
import { MAX_LISTED } from "./kinds/lists.ts";

const SEND = typeUrlOf(MsgSendSchema);
const SECOND = 1_000_000_000n;
const utoken = (amount: bigint | number) => ({ denom: "utoken", amount: amount.toString() });

interface GrantOptions {
  readonly from?: string;
  readonly to?: string;
  /** Nanoseconds. */
  readonly expiration?: bigint;
}

/** A chain with short names for the tests' operations. */
function start() {
  const chain = testChain();
  const address = (name: string) => chain.keys.get(name)?.address ?? testKey(name).address;
  const generic = (msg: string) => packAny(GenericAuthorizationSchema, { msg });
  const sendUpTo = (amount: number, ...allowList: string[]) =>
    packAny(SendAuthorizationSchema, { spendLimit: [utoken(amount)], allowList });
  const grantMessage = (
    authorization: Any | undefined,
    { from = "alice", to = "bob", expiration }: GrantOptions = {},
  ) =>
    packAny(MsgGrantSchema, {
      granter: address(from),
      grantee: address(to),
      grant: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(expiration === undefined ? {} : { expiration: create(TimestampSchema, fromNanos(expiration)) }),
      },
    });
  const grant = (authorization: Any | undefined, options: GrantOptions = {}) =>
    chain.send(grantMessage(authorization, options), { from: chain.key(options.from ?? "alice") });
  const send = (amount: number, to = "carol", from = "alice") =>
    packAny(MsgSendSchema, { fromAddress: address(from), toAddress: address(to), amount: [utoken(amount)] });
  const exec = (msgs: Any[], by = "bob") => packAny(MsgExecSchema, { grantee: address(by), msgs });
  const doExec = (msgs: Any[], by = "bob"): SentTx =>
    chain.send(exec(msgs, by), { from: chain.key(by), gas: 10n ** 7n });
  const revoke = (msgTypeUrl = SEND) =>
    chain.send(create(MsgRevokeSchema, { granter: address("alice"), grantee: address("bob"), msgTypeUrl }), {
      from: chain.key("alice"),
    });
  const grants = () => chain.query(Query.method.grants, { granter: address("alice"), grantee: address("bob") }).grants;
  return { chain, address, generic, sendUpTo, grantMessage, grant, send, exec, doExec, revoke, grants };
}

const failure = ({ codespace, code }: SentTx) => `${codespace}/${code}`;
const next = (chain: TestChain) => chain.time + 6n * SECOND;

describe("a generic authorization", () => {
  test("lets the grantee act for the granter until it is revoked", () => {
    const { chain, address, generic, grant, send, doExec, revoke } = start();
    expect(failure(doExec([send(5)]))).toBe("authz/2");
    const granted = grant(generic("/cosmos.bank.v1beta1.MsgSend"));
    expect(granted.code).toBe(0);
    expect(granted.logs[0]?.events[1]).toEqual({
      type: "sdk.authz.v1beta1.EventGrant",
      attributes: [
        { key: "grantee", value: `"${address("bob")}"` },
        { key: "granter", value: `"${address("alice")}"` },
        { key: "msg_type_url", value: `"${SEND}"` },
      ],
    });
    const sent = doExec([send(5), send(6)]);
    expect(sent.code).toBe(0);
    expect(chain.balance(address("carol"))).toBe(10n ** 12n + 11n);
    expect(sent.response(MsgExecResponseSchema).results).toHaveLength(2);
    const marks = sent.events
      .filter(({ type }) => type === "transfer")
      .map(({ attributes }) => attributes.find(({ key }) => key === "authz_msg_index")?.value);
    expect(marks).toEqual(["0", "1"]);
    expect(revoke().events.some(({ type }) => type === "sdk.authz.v1beta1.EventRevoke")).toBe(true);
    expect(failure(doExec([send(5)]))).toBe("authz/2");
    expect(failure(revoke())).toBe("authz/2");
  });

  test("is for one type, one granter and one grantee", () => {
    const { generic, grant, send, doExec } = start();
    grant(generic(SEND));
    expect(failure(doExec([send(1, "carol", "dave")]))).toBe("authz/2");
    expect(failure(doExec([send(1)], "carol"))).toBe("authz/2");
    expect(failure(doExec([send(1, "carol", "bob"), send(1)]))).toBe("/0");
  });

  test.each([
    ["of no type", "", "sdk/18"],
    ["of messages that do not exist", "/sdk.bank.v1beta1.MsgGift", "sdk/29"],
    ["of what is not a message", "/sdk.bank.v1beta1.Params", "sdk/29"],
    ["with a zero byte", "/sdk.bank.v1beta1.MsgSend\0", "sdk/29"],
  ])("%s is refused", (_, url, code) => {
    const { generic, grant } = start();
    expect(failure(grant(generic(url)))).toBe(code);
  });
});

describe("grants", () => {
  test("are between two accounts", () => {
    const { generic, grant } = start();
    expect(failure(grant(generic(SEND), { to: "alice" }))).toBe("authz/7");
  });

  test("hold an authorization", () => {
    const { grant, send } = start();
    expect(failure(grant(undefined))).toBe("sdk/29");
    expect(failure(grant(send(1)))).toBe("sdk/29");
  });

  test("open the account of the grantee", () => {
    const { chain, address, generic, grant } = start();
    expect(grant(generic(SEND), { to: "nobody yet" }).code).toBe(0);
    expect(chain.account(address("nobody yet")).sequence).toBe(0n);
  });

  test("can be revoked in either spelling, and not with a text that cannot be a key", () => {
    const { generic, grant, revoke } = start();
    grant(generic(SEND));
    expect(failure(revoke("/a\0b"))).toBe("authz/2");
    expect(failure(revoke(""))).toBe("sdk/18");
    expect(revoke("/cosmos.bank.v1beta1.MsgSend").code).toBe(0);
  });

  test("take the place of those for the same messages", () => {
    const { chain, generic, sendUpTo, grant, grants, doExec, send } = start();
    grant(generic(SEND), { expiration: next(chain) + SECOND });
    grant(sendUpTo(10));
    expect(grants()).toHaveLength(1);
    chain.nextBlock(3);
    expect(failure(doExec([send(11)]))).toBe("sdk/5");
    expect(doExec([send(10)]).code).toBe(0);
  });
});

describe("a transfer authorization", () => {
  test("is used up to its limit and then gone", () => {
    const { sendUpTo, grant, grants, doExec, send } = start();
    grant(sendUpTo(10));
    expect(failure(doExec([send(11)]))).toBe("sdk/5");
    expect(doExec([send(4)]).code).toBe(0);
    expect(unpackAs(SendAuthorizationSchema, grants()[0]?.authorization)?.spendLimit).toMatchObject([utoken(6)]);
    expect(failure(doExec([send(6), send(1)]))).toBe("authz/2");
    expect(doExec([send(6)]).code).toBe(0);
    expect(grants()).toEqual([]);
  });

  test("names who may receive", () => {
    const { address, sendUpTo, grant, doExec, send } = start();
    grant(sendUpTo(10, address("dave")));
    expect(failure(doExec([send(1)]))).toBe("sdk/4");
    expect(doExec([send(1, "dave")]).code).toBe(0);
  });

  test("is refused without a limit, with a name twice, and with too many names", () => {
    const { address, sendUpTo, grant } = start();
    const empty = packAny(SendAuthorizationSchema, { spendLimit: [] });
    expect(failure(grant(empty))).toBe("sdk/10");
    expect(failure(grant(sendUpTo(0)))).toBe("sdk/10");
    expect(failure(grant(sendUpTo(1, address("dave"), address("dave"))))).toBe("sdk/18");
    expect(failure(grant(sendUpTo(1, "dave")))).toBe("sdk/7");
    const many = Array.from({ length: MAX_LISTED + 1 }, (_, i) =>
      encodeAddress(Uint8Array.from({ length: 20 }, (_, j) => (j < 2 ? i >> (8 * j) : 7) & 255)),
    );
    expect(failure(grant(sendUpTo(1, ...many)))).toBe("sdk/18");
  });
});

describe("a stake authorization", () => {
  const validators = [1, 2].map((n) => encodeAddress(new Uint8Array(20).fill(n), "valoper"));
  const stake = (change: object) =>
    packAny(StakeAuthorizationSchema, {
      authorizationType: AuthorizationType.DELEGATE,
      validators: { case: "allowList", value: { address: validators.slice(0, 1) } },
      ...change,
    });

  test("is checked before a validator is looked for", () => {
    const { address, grant, doExec } = start();
    const delegate = (amount: number, validatorAddress = validators[0] ?? "", denom = "utoken") =>
      packAny(MsgDelegateSchema, {
        delegatorAddress: address("alice"),
        validatorAddress,
        amount: { denom, amount: amount.toString() },
      });
    expect(grant(stake({ maxTokens: utoken(10) })).code).toBe(0);
    expect(failure(doExec([delegate(1, validators[1])]))).toBe("sdk/4");
    expect(failure(doExec([delegate(11)]))).toBe("sdk/5");
    expect(failure(doExec([delegate(1, validators[0], "other")]))).toBe("sdk/10");
    // Allowed; the validator does not exist.
    expect(failure(doExec([delegate(10)]))).toMatch(/^staking\//);
    grant(stake({ validators: { case: "denyList", value: { address: validators.slice(1) } } }));
    expect(failure(doExec([delegate(99)]))).toMatch(/^staking\//);
    expect(failure(doExec([delegate(1, validators[1])]))).toBe("sdk/4");
  });

  test.each([
    ["of no kind", { authorizationType: AuthorizationType.UNSPECIFIED }, "authz/4"],
    ["up to nothing", { maxTokens: utoken(0) }, "authz/12"],
    [
      "for an empty list of allowed validators",
      { validators: { case: "allowList", value: { address: [] } } },
      "sdk/18",
    ],
    ["for accounts", { validators: { case: "denyList", value: { address: [testKey("a").address] } } }, "sdk/7"],
  ])("%s is refused", (_, change, code) => {
    const { grant } = start();
    expect(failure(grant(stake(change)))).toBe(code);
  });
});

describe("expirations", () => {
  test("lie in the future", () => {
    const { chain, generic, grant } = start();
    expect(failure(grant(generic(SEND), { expiration: next(chain) }))).toBe("authz/3");
    expect(grant(generic(SEND), { expiration: next(chain) + 1n }).code).toBe(0);
  });

  test("may be as late as times are, and no later", () => {
    const { generic, grant, grants } = start();
    expect(grant(generic(SEND), { expiration: 253_402_300_799n * SECOND }).code).toBe(0);
    expect(grants()).toHaveLength(1);
    expect(failure(grant(generic(SEND), { expiration: 253_402_300_800n * SECOND }))).toBe("sdk/18");
  });

  test("end a grant at their nanosecond", () => {
    const { chain, generic, grant, grants, doExec, send } = start();
    const end = next(chain) + 12n * SECOND;
    grant(generic(SEND), { expiration: end });
    expect(doExec([send(1)]).code).toBe(0);
    expect(chain.time).toBe(end - 6n * SECOND);
    expect(grants()).toHaveLength(1);
    expect(failure(doExec([send(1)]))).toBe("authz/2");
    expect(grants()).toEqual([]);
  });

  test("are pruned a bounded number per block; those that wait are over all the same", () => {
    const { chain, generic, grantMessage, send, address, exec } = start();
    const end = next(chain) + 6n * SECOND;
    const count = MAX_PRUNED + 50;
    const messages = Array.from({ length: count }, (_, i) =>
      grantMessage(generic(SEND), { to: `grantee ${i}`, expiration: end }),
    );
    chain.mustSend(messages, { from: chain.key("alice"), gas: 10n ** 8n });
    chain.mustSend(grantMessage(generic(SEND), { expiration: end + 1n }), { from: chain.key("alice") });
    const left = () =>
      chain.query(Query.method.granterGrants, { granter: address("alice"), pagination: { limit: 1000n } }).grants
        .length;
    expect(left()).toBe(51);
    const late = chain.send(exec([send(1)]), { from: chain.key("bob") });
    expect(["authz/2", "authz/6"]).toContain(failure(late));
    chain.nextBlock();
    expect(left()).toBe(0);
  });
});

describe("carrying out", () => {
  test("needs messages", () => {
    const { doExec } = start();
    expect(failure(doExec([]))).toBe("sdk/18");
  });

  test("goes through several hands, each with a grant", () => {
    const { generic, grant, send, exec, doExec } = start();
    grant(generic(SEND));
    expect(failure(doExec([exec([send(1)])], "dave"))).toBe("authz/2");
    grant(generic(typeUrlOf(MsgExecSchema)), { from: "bob", to: "dave" });
    expect(doExec([exec([send(1)])], "dave").code).toBe(0);
  });

  test("is nested up to the limit of the message service", () => {
    const { send, exec, doExec } = start();
    const nested = (times: number): Any => (times === 0 ? send(1, "carol", "bob") : exec([nested(times - 1)]));
    expect(doExec([nested(MAX_MESSAGE_NESTING - 1)]).code).toBe(0);
    expect(failure(doExec([nested(MAX_MESSAGE_NESTING)]))).toBe("sdk/18");
  });

  test("sees what its own messages change about the grants", () => {
    const { address, chain, generic, sendUpTo, grant, grantMessage, send, doExec } = start();
    grant(generic(typeUrlOf(MsgRevokeSchema)));
    grant(generic(typeUrlOf(MsgGrantSchema)));
    grant(sendUpTo(10));
    const revoke = packAny(MsgRevokeSchema, { granter: address("alice"), grantee: address("bob"), msgTypeUrl: SEND });
    expect(failure(doExec([send(1), revoke, send(1)]))).toBe("authz/2");
    expect(doExec([send(1), revoke]).code).toBe(0);
    expect(doExec([grantMessage(sendUpTo(100)), send(100)]).code).toBe(0);
    expect(chain.balance(address("carol"))).toBe(10n ** 12n + 101n);
  });

  test("a grant that takes itself back while it is used is gone", () => {
    const { address, generic, grant, grants, doExec } = start();
    const url = typeUrlOf(MsgRevokeSchema);
    grant(generic(url));
    const revoke = packAny(MsgRevokeSchema, { granter: address("alice"), grantee: address("bob"), msgTypeUrl: url });
    expect(doExec([revoke]).code).toBe(0);
    expect(grants()).toEqual([]);
  });

  test("of a module's account needs the grant that nobody can give", () => {
    const { address, doExec } = start();
    const fromAddress = encodeAddress(moduleAddress("fee_collector"));
    const theft = packAny(MsgSendSchema, { fromAddress, toAddress: address("bob"), amount: [utoken(1)] });
    expect(failure(doExec([theft]))).toBe("authz/2");
  });
});

describe("queries", () => {
  test("answer in the spelling of the question, page by page", () => {
    const { chain, address, generic, grant, sendUpTo } = start();
    grant(generic(SEND), { to: "carol" });
    grant(generic(typeUrlOf(MsgDelegateSchema)));
    grant(sendUpTo(1));
    grant(sendUpTo(1), { from: "dave" });
    const one = chain.query(Query.method.granterGrants, { granter: address("alice"), pagination: { limit: 2n } });
    const two = chain.query(Query.method.granterGrants, {
      granter: address("alice"),
      pagination: { key: one.pagination?.nextKey ?? new Uint8Array() },
    });
    expect([one.grants.length, two.grants.length]).toEqual([2, 1]);
    const byGrantee = chain.query(Query.method.granteeGrants, { grantee: address("bob") });
    expect(byGrantee.grants.map(({ granter }) => granter).sort()).toEqual(
      [address("alice"), address("alice"), address("dave")].sort(),
    );
    expect(() =>
      chain.query(Query.method.grants, { granter: address("alice"), grantee: address("bob"), msgTypeUrl: "/x" }),
    ).toThrow("authorization not found");
  });
});

describe("genesis", () => {
  test("is exported and imported again", () => {
    const { chain, generic, grant, sendUpTo, address } = start();
    grant(generic(SEND), { to: "carol", expiration: next(chain) + 3600n * SECOND });
    grant(sendUpTo(5, address("dave")));
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
    expect(first).toMatchObject({ authz: { authorization: [{}, {}] } });
  });

  test("names what is wrong with it", () => {
    const { address } = start();
    const authorization = {
      "@type": "/cosmos.authz.v1beta1.GenericAuthorization",
      msg: "/cosmos.bank.v1beta1.MsgSend",
    };
    const entry = { granter: address("alice"), grantee: address("bob"), authorization };
    const begin = (entries: object[]) => () => testChain({ genesis: { authz: { authorization: entries } } });
    expect(begin([entry])).not.toThrow();
    expect(begin([entry, entry])).toThrow("appears twice");
    expect(begin([{ ...entry, grantee: address("alice") }])).toThrow("should be different");
    expect(begin([{ ...entry, authorization: { "@type": "/sdk.bank.v1beta1.Params" } }])).toThrow(
      "not an authorization",
    );
  });
});
