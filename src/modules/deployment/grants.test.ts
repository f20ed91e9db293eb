import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { coin, groupSpec, MIN_DEPOSIT, TestMarket } from "../../../test/support/chain/index.ts";
import { type SentTx, type TestKey, testChain } from "../../testing/index.ts";
import { Query } from "../../wire/gen/sdk/authz/v1beta1/query_pb.js";
import { MsgExecSchema, MsgGrantSchema, MsgRevokeSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { DepositDeploymentAuthorizationSchema } from "../../wire/gen/svc/deployment/v1beta1/authz_pb.js";
import { MsgCreateDeploymentSchema, MsgDepositDeploymentSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { fromNanos, packAny, typeUrlOf, unpackAs } from "../../wire/index.ts";

const SECOND = 1_000_000_000n;
/** Minimum deposit of accounts other than the owner. */
const SPONSOR_MIN = 1_000_000n;
const DEPOSIT = typeUrlOf(MsgDepositDeploymentSchema);

/** Alice lets Bob deploy with her money; Carol got nothing. */
function setUp() {
  const chain = testChain();
  const market = new TestMarket(chain);
  const [alice, bob, carol] = [chain.key("alice"), chain.key("bob"), chain.key("carol")];
  const grant = (limit: bigint, { denom = "utoken", from = alice, expiration = 0n } = {}) => {
    const authorization = packAny(DepositDeploymentAuthorizationSchema, { spendLimit: coin(limit, denom) });
    const end = expiration === 0n ? {} : { expiration: create(TimestampSchema, fromNanos(expiration)) };
    const pair = { granter: from.address, grantee: bob.address };
    return chain.send(create(MsgGrantSchema, { ...pair, grant: { authorization, ...end } }), { from });
  };
  const deploy = (amount: bigint, { by = bob, depositor = alice.address, dseq = 5n, denom = "utoken" } = {}) => {
    const id = { owner: by.address, dseq };
    const content = { groups: [groupSpec("web")], version: new Uint8Array(32).fill(7), deposit: coin(amount, denom) };
    return chain.send(create(MsgCreateDeploymentSchema, { id, ...content, depositor }), { from: by });
  };
  const topUp = (amount: bigint, { by = bob, denom = "utoken" }: { by?: TestKey; denom?: string } = {}) => {
    const id = { owner: bob.address, dseq: 5n };
    const deposit = { id, amount: coin(amount, denom), depositor: alice.address };
    const msgs = [packAny(MsgDepositDeploymentSchema, deposit)];
    return chain.send(create(MsgExecSchema, { grantee: by.address, msgs }), { from: by });
  };
  const left = () => {
    const pair = { granter: alice.address, grantee: bob.address };
    const { grants } = chain.query(Query.method.grants, { ...pair, msgTypeUrl: "" });
    return grants.map(
      ({ authorization }) => unpackAs(DepositDeploymentAuthorizationSchema, authorization)?.spendLimit?.amount,
    );
  };
  return { chain, market, alice, bob, carol, grant, deploy, topUp, left };
}

const failure = ({ codespace, code }: SentTx) => `${codespace}/${code}`;

describe("deposits from a grant", () => {
  it("create a deployment with the granter's money, which goes back to the granter", () => {
    const { chain, market, alice, bob, grant, deploy, left } = setUp();
    const before = [chain.balance(alice.address), chain.balance(bob.address)];
    expect(grant(MIN_DEPOSIT + 3n).code).toBe(0);
    expect(deploy(MIN_DEPOSIT).code).toBe(0);
    const id = { owner: bob.address, dseq: 5n };
    expect(left()).toEqual(["3"]);
    expect(chain.balance(alice.address)).toBe((before[0] ?? 0n) - MIN_DEPOSIT);
    expect(market.account(id).deposits).toMatchObject([{ depositor: alice.address, fromGrant: true }]);
    market.closeDeployment(bob, id);
    expect([chain.balance(alice.address), chain.balance(bob.address)]).toEqual(before);
    // Refunds go to the granter and do not refill the grant.
    expect(left()).toEqual(["3"]);
  });

  it("end with the limit: all of it removes the grant, one more is refused and takes nothing", () => {
    const { chain, alice, grant, deploy, left } = setUp();
    grant(MIN_DEPOSIT);
    const before = chain.balance(alice.address);
    expect(failure(deploy(MIN_DEPOSIT + 1n))).toBe("sdk/5");
    expect([left(), chain.balance(alice.address)]).toEqual([[`${MIN_DEPOSIT}`], before]);
    expect(deploy(MIN_DEPOSIT).code).toBe(0);
    expect(left()).toEqual([]);
    expect(failure(deploy(MIN_DEPOSIT, { dseq: 6n }))).toBe("authz/2");
  });

  it("add to a deployment, from the same limit", () => {
    const { chain, market, alice, bob, grant, deploy, topUp, left } = setUp();
    const before = chain.balance(alice.address);
    grant(MIN_DEPOSIT + 2n * SPONSOR_MIN);
    deploy(MIN_DEPOSIT);
    expect(failure(topUp(2n * SPONSOR_MIN + 1n))).toBe("sdk/5");
    expect(failure(topUp(SPONSOR_MIN, { denom: "stake" }))).toBe("sdk/10");
    expect(topUp(SPONSOR_MIN).code).toBe(0);
    expect(left()).toEqual([`${SPONSOR_MIN}`]);
    expect(topUp(SPONSOR_MIN).code).toBe(0);
    expect(left()).toEqual([]);
    expect(failure(topUp(SPONSOR_MIN))).toBe("authz/2");
    market.closeDeployment(bob, { owner: bob.address, dseq: 5n });
    expect(chain.balance(alice.address)).toBe(before);
  });

  it("need the grant of this pair, for this denomination, in force", () => {
    const { chain, alice, bob, carol, grant, deploy, topUp } = setUp();
    expect(failure(deploy(MIN_DEPOSIT))).toBe("authz/2");
    grant(MIN_DEPOSIT, { denom: "stake" });
    expect(failure(deploy(MIN_DEPOSIT))).toBe("sdk/10");
    grant(2n * MIN_DEPOSIT);
    expect(failure(deploy(MIN_DEPOSIT, { by: carol }))).toBe("authz/2");
    expect(failure(deploy(MIN_DEPOSIT, { depositor: carol.address }))).toBe("authz/2");
    expect(deploy(MIN_DEPOSIT).code).toBe(0);
    expect(failure(topUp(SPONSOR_MIN, { by: carol }))).toBe("authz/2");
    const pair = { granter: alice.address, grantee: bob.address };
    chain.mustSend(create(MsgRevokeSchema, { ...pair, msgTypeUrl: DEPOSIT }), { from: alice });
    expect(failure(deploy(MIN_DEPOSIT, { dseq: 6n }))).toBe("authz/2");
    expect(failure(topUp(SPONSOR_MIN))).toBe("authz/2");
  });

  it("end in the block of their time", () => {
    const { chain, grant, deploy } = setUp();
    const expiration = chain.time + 18n * SECOND;
    grant(3n * MIN_DEPOSIT, { expiration });
    expect(deploy(MIN_DEPOSIT).code).toBe(0);
    const answers: string[] = [];
    for (let dseq = 6n; dseq < 9n; dseq++)
      answers.push(`${failure(deploy(MIN_DEPOSIT, { dseq }))} ${chain.time < expiration}`);
    expect(answers).toEqual(["authz/2 false", "authz/2 false", "authz/2 false"]);
  });

  it("fail with the granter's balance and leave the grant as it was", () => {
    const { grant, deploy, left, chain, bob } = setUp();
    grant(10n ** 13n);
    expect(failure(deploy(10n ** 13n))).toBe("sdk/5");
    expect(left()).toEqual([`${10n ** 13n}`]);
    expect(chain.balance(bob.address)).toBe(10n ** 12n);
  });

  it("are refused as grants of nothing", () => {
    expect(failure(setUp().grant(0n))).toBe("sdk/10");
  });
});
