import { coins, DirectSecp256k1Wallet, type EncodeObject } from "@cosmjs/proto-signing";
import {
  calculateFee,
  QueryClient,
  SigningStargateClient,
  setupAuthExtension,
  setupAuthzExtension,
  setupBankExtension,
  setupDistributionExtension,
  setupFeegrantExtension,
  setupGovExtension,
  setupMintExtension,
  setupSlashingExtension,
  setupStakingExtension,
  setupTxExtension,
} from "@cosmjs/stargate";
import { connectComet } from "@cosmjs/tendermint-rpc";
import { GenericAuthorization } from "cosmjs-types/cosmos/authz/v1beta1/authz";
import { BasicAllowance } from "cosmjs-types/cosmos/feegrant/v1beta1/feegrant";
import { ProposalStatus, TextProposal, VoteOption } from "cosmjs-types/cosmos/gov/v1beta1/gov";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeAddress } from "../../src/wire/index.ts";
import { Fixture } from "../support/index.ts";
import { type BusyNode, startBusyNode } from "./busy-node.ts";

/** Every query extension of the client library of the ecosystem's web applications, after transactions that it signs. */

const SEED = 3;
const FEE = calculateFee(600_000, "0.0025utoken");
const SEND = "/cosmos.bank.v1beta1.MsgSend";
const HOUR = 3_600n;

const fixture = new Fixture();
let busy: BusyNode;
let client: SigningStargateClient;
let address: string;
let other: string;

beforeAll(async () => {
  busy = await startBusyNode(fixture, SEED);
  const wallet = await DirectSecp256k1Wallet.fromKey(busy.operator.privateKey, "svc");
  [address, other] = [busy.operator.address, busy.accounts[1]?.address ?? ""];
  client = await SigningStargateClient.connectWithSigner(busy.node.address.replace("tcp", "http"), wallet, {
    broadcastPollIntervalMs: 100,
  });
});

afterAll(async () => {
  client?.disconnect();
  await fixture.close();
});

async function send(typeUrl: string, value: object): Promise<void> {
  const message: EncodeObject = { typeUrl, value };
  const { code, rawLog } = await client.signAndBroadcast(address, [message], FEE);
  expect(`${code} ${rawLog ?? ""}`).toMatch(/^0 /);
}

async function extended() {
  const comet = await connectComet(busy.node.address.replace("tcp", "http"));
  return QueryClient.withExtensions(
    comet,
    setupAuthExtension,
    setupAuthzExtension,
    setupBankExtension,
    setupDistributionExtension,
    setupFeegrantExtension,
    setupGovExtension,
    setupMintExtension,
    setupSlashingExtension,
    setupStakingExtension,
    setupTxExtension,
  );
}

describe("CosmJS", () => {
  test("delegates, and reads staking, rewards, inflation and the signing of blocks", async () => {
    await client.delegateTokens(address, busy.validator, { denom: "utoken", amount: "7000000" }, FEE);
    const query = await extended();
    const { delegationResponse } = await query.staking.delegation(address, busy.validator);
    expect(delegationResponse?.balance).toEqual({ denom: "utoken", amount: "5007000000" });
    expect((await query.staking.validators("BOND_STATUS_BONDED")).validators).toHaveLength(1);
    expect(BigInt((await query.staking.pool()).pool?.bondedTokens ?? 0)).toBe(5_007_000_000n);
    expect((await query.staking.delegatorDelegations(address)).delegationResponses).toHaveLength(1);
    expect((await query.staking.delegatorUnbondingDelegations(address)).unbondingResponses).toEqual([]);
    expect((await query.staking.params()).params?.bondDenom).toBe("utoken");
    expect((await query.distribution.delegationTotalRewards(address)).rewards).toHaveLength(1);
    expect((await query.distribution.delegatorValidators(address)).validators).toEqual([busy.validator]);
    expect((await query.distribution.communityPool()).pool).toBeInstanceOf(Array);
    expect((await query.distribution.validatorCommission(busy.validator)).commission).toBeDefined();
    expect((await query.distribution.params()).params).toBeDefined();
    expect((await query.mint.inflation()).toString()).toBe("0");
    expect((await query.mint.params()).mintDenom).toBe("utoken");
    expect((await query.slashing.signingInfos()).info).toHaveLength(1);
    expect((await query.slashing.params()).params?.signedBlocksWindow).toBeGreaterThan(0n);
  });

  test("reads accounts and balances", async () => {
    const query = await extended();
    expect(await query.auth.account(address)).toMatchObject({ typeUrl: "/cosmos.auth.v1beta1.BaseAccount" });
    expect((await query.bank.allBalances(address)).length).toBeGreaterThan(0);
    expect(BigInt((await query.bank.supplyOf("utoken")).amount)).toBeGreaterThan(10n ** 12n);
    expect((await query.bank.totalSupply()).supply.map(({ denom }) => denom)).toContain("utoken");
  });

  test("gives and reads a right to act", async () => {
    const authorization = {
      typeUrl: "/cosmos.authz.v1beta1.GenericAuthorization",
      value: GenericAuthorization.encode({ msg: SEND }).finish(),
    };
    const expiration = { seconds: BigInt(Math.floor(Date.now() / 1_000)) + HOUR, nanos: 0 };
    await send("/cosmos.authz.v1beta1.MsgGrant", {
      granter: address,
      grantee: other,
      grant: { authorization, expiration },
    });
    const query = await extended();
    expect((await query.authz.grants(address, other, SEND)).grants).toHaveLength(1);
    const [given] = (await query.authz.granterGrants(address)).grants;
    expect(given?.authorization).toEqual(authorization);
    expect((await query.authz.granteeGrants(other)).grants).toHaveLength(1);
  });

  test("gives and reads an allowance for fees", async () => {
    const allowance = {
      typeUrl: "/cosmos.feegrant.v1beta1.BasicAllowance",
      value: BasicAllowance.encode({ spendLimit: coins(5_000, "utoken") }).finish(),
    };
    await send("/cosmos.feegrant.v1beta1.MsgGrantAllowance", { granter: address, grantee: other, allowance });
    const query = await extended();
    expect((await query.feegrant.allowance(address, other)).allowance?.allowance).toEqual(allowance);
    expect((await query.feegrant.allowances(other)).allowances).toHaveLength(1);
  });

  test("proposes, votes, and reads what came of it", async () => {
    const content = {
      typeUrl: "/cosmos.gov.v1beta1.TextProposal",
      value: TextProposal.encode({ title: "Longer leases", description: "Let us talk." }).finish(),
    };
    await send("/cosmos.gov.v1beta1.MsgSubmitProposal", {
      content,
      proposer: address,
      initialDeposit: coins(100_000_000, "utoken"),
    });
    await send("/cosmos.gov.v1beta1.MsgVote", { proposalId: 1n, voter: address, option: VoteOption.VOTE_OPTION_YES });
    const query = await extended();
    expect((await query.gov.proposal(1)).proposal?.content).toEqual(content);
    const open = ProposalStatus.PROPOSAL_STATUS_VOTING_PERIOD;
    expect((await query.gov.proposals(open, "", "")).proposals).toHaveLength(1);
    expect((await query.gov.vote(1, address)).vote?.voter).toBe(address);
    expect((await query.gov.votes(1)).votes).toHaveLength(1);
    expect((await query.gov.deposit(1, address)).deposit?.amount).toEqual(coins(100_000_000, "utoken"));
    expect((await query.gov.deposits(1)).deposits).toHaveLength(1);
    expect((await query.gov.tally(1)).tally?.yes).toBeDefined();
    for (const kind of ["deposit", "tallying", "voting"] as const) expect(await query.gov.params(kind)).toBeDefined();
  });

  test("makes an account whose coins come free with time", async () => {
    const toAddress = encodeAddress(new Uint8Array(20).fill(5));
    const endTime = BigInt(Math.floor(Date.now() / 1_000)) + HOUR;
    const amount = coins(3_000_000, "utoken");
    await send("/cosmos.vesting.v1beta1.MsgCreateVestingAccount", {
      fromAddress: address,
      toAddress,
      amount,
      endTime,
      delayed: true,
    });
    const query = await extended();
    expect(await query.auth.account(toAddress)).toMatchObject({
      typeUrl: "/cosmos.vesting.v1beta1.DelayedVestingAccount",
    });
    expect(await query.bank.allBalances(toAddress)).toEqual(amount);
  });

  test("reads a transaction by its hash, and simulates one", async () => {
    const { transactionHash } = await client.sendTokens(address, other, coins(1, "utoken"), FEE);
    const query = await extended();
    expect((await query.tx.getTx(transactionHash)).txResponse?.code).toBe(0);
    const message = { typeUrl: SEND, value: { fromAddress: address, toAddress: other, amount: coins(1, "utoken") } };
    expect(await client.simulate(address, [message], "")).toBeGreaterThan(10_000);
  });
});
