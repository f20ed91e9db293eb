import { readdirSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { makeAny, packAny, unpackAs } from "./any.ts";
import { MsgSendSchema } from "./gen/sdk/bank/v1beta1/tx_pb.js";
import { CoinSchema } from "./gen/sdk/base/v1beta1/coin_pb.js";
import { MsgCreateBidSchema } from "./gen/svc/market/v1beta1/tx_pb.js";
import { methodPath, namespaceOf, toNamespace, typeUrlOf } from "./namespace.ts";
import { aminoName, messageAction, signerPath } from "./options.ts";
import { PROTO_FILES } from "./proto-files.ts";
import {
  allMessages,
  allMsgs,
  allServices,
  findMessage,
  findMethod,
  findService,
  findTypeUrl,
  resolveTypeUrl,
  unpackAny,
} from "./registry.ts";

const SEND = { fromAddress: "a", toAddress: "b", amount: [] };

describe("the registry", () => {
  it("holds every generated file", () => {
    const files = readdirSync(new URL("gen", import.meta.url), { recursive: true, encoding: "utf8" });
    // The services of gRPC itself and of providers' gateways belong only to their servers.
    const isOfServers = (name: string) => name.startsWith("grpc/") || name.startsWith("svc/provider/v1/");
    const own = files.filter((name) => name.endsWith("_pb.js") && !isOfServers(name));
    const generated = own.map((name) => name.replace("_pb.js", ""));
    const listed = PROTO_FILES.map(({ file }) => file().name).filter((name) => !name.startsWith("google/protobuf/"));
    expect(listed).toEqual(generated.sort());
  });

  it("lists services and messages by name, whatever was looked for before", () => {
    findMessage("svc.market.v1beta1.MsgCreateBid");
    for (const all of [allServices(), allMessages()]) {
      const names = all.map(({ typeName }) => typeName);
      expect(names).toEqual(names.toSorted());
    }
  });

  it("finds names in both spellings", () => {
    expect(findTypeUrl("/sdk.bank.v1beta1.MsgSend")).toBe(MsgSendSchema);
    expect(findTypeUrl("/cosmos.bank.v1beta1.MsgSend")).toBe(MsgSendSchema);
    expect(findMessage("cosmos.base.v1beta1.Coin")).toBe(CoinSchema);
    expect(findService("cosmos.bank.v1beta1.Query")?.typeName).toBe("sdk.bank.v1beta1.Query");
    expect(findMethod("/cosmos.bank.v1beta1.Query/Balance")).toBe(findMethod("/sdk.bank.v1beta1.Query/Balance"));
    expect(findTypeUrl("/svc.market.v1beta1.MsgCreateBid")).toBe(MsgCreateBidSchema);
  });

  it.each([
    "sdk.bank.v1beta1.MsgSend",
    "/cosmos.svc.market.v1beta1.MsgCreateBid",
    "/SDK.bank.v1beta1.MsgSend",
    "/sdk.bank.v1beta1.MsgSend/",
    "type.googleapis.com/sdk.bank.v1beta1.MsgSend",
    "",
    "/",
  ])("knows no %j", (url) => {
    expect(findTypeUrl(url)).toBeUndefined();
    expect(() => resolveTypeUrl(url)).toThrow(/unable to resolve type URL/);
  });

  it("writes names in the spelling that is asked for", () => {
    expect(typeUrlOf(MsgSendSchema)).toBe("/sdk.bank.v1beta1.MsgSend");
    expect(typeUrlOf(MsgSendSchema, "cosmos")).toBe("/cosmos.bank.v1beta1.MsgSend");
    expect(typeUrlOf(MsgCreateBidSchema, "cosmos")).toBe("/svc.market.v1beta1.MsgCreateBid");
    const method = findMethod("/sdk.bank.v1beta1.Query/Balance");
    expect(method && methodPath(method, "cosmos")).toBe("/cosmos.bank.v1beta1.Query/Balance");
  });

  it.each([
    ["/sdk/bank/v1beta1/balances/x", "/cosmos/bank/v1beta1/balances/x"],
    ["sdk.bank.v1beta1.Query", "cosmos.bank.v1beta1.Query"],
    ["/sdk.tx.v1beta1.Service/Simulate", "/cosmos.tx.v1beta1.Service/Simulate"],
  ])("turns %s into %s and back", (own, alias) => {
    expect(toNamespace(own, "cosmos")).toBe(alias);
    expect(toNamespace(alias, "sdk")).toBe(own);
    expect(toNamespace(alias, "cosmos")).toBe(alias);
    expect([namespaceOf(own), namespaceOf(alias)]).toEqual(["sdk", "cosmos"]);
  });

  it.each(["/svc.market.v1beta1.Query", "sdkx.bank", "/sdkfoo/bar", "sdk", "", "/"])("leaves %j alone", (name) => {
    expect(toNamespace(name, "cosmos")).toBe(name);
    expect(namespaceOf(name)).toBe("sdk");
  });
});

describe("Any", () => {
  it("carries the bare type URL and unpacks from both spellings", () => {
    const any = packAny(MsgSendSchema, SEND);
    expect(any.typeUrl).toBe("/sdk.bank.v1beta1.MsgSend");
    const alias = packAny(MsgSendSchema, SEND, "cosmos");
    expect(alias.typeUrl).toBe("/cosmos.bank.v1beta1.MsgSend");
    expect(alias.value).toEqual(any.value);
    for (const each of [any, alias]) {
      expect(unpackAny(each)).toEqual({
        typeUrl: each.typeUrl,
        schema: MsgSendSchema,
        value: create(MsgSendSchema, SEND),
      });
      expect(unpackAs(MsgSendSchema, each)?.toAddress).toBe("b");
      expect(unpackAs(CoinSchema, each)).toBeUndefined();
    }
  });

  it("reports a type or content that cannot be read", () => {
    expect(() => unpackAny(makeAny("/no.Such", new Uint8Array()))).toThrow(
      "unable to resolve type URL /no.Such: failed unpacking protobuf message from Any",
    );
    expect(() => unpackAny(makeAny("/sdk.bank.v1beta1.MsgSend", new Uint8Array([255])))).toThrow(
      "invalid length: failed unpacking protobuf message from Any",
    );
  });
});

/** Frozen: signatures of hardware wallets and multisigs depend on these names, logs and explorers on the actions. */
const MESSAGES: readonly (readonly [type: string, amino: string, action: string, signer: string])[] = [
  ["sdk.bank.v1beta1.MsgSend", "cosmos-sdk/MsgSend", "send", "from_address"],
  ["sdk.bank.v1beta1.MsgMultiSend", "cosmos-sdk/MsgMultiSend", "multisend", "inputs.address"],
  ["sdk.bank.v1beta1.MsgSetSendEnabled", "cosmos-sdk/MsgSetSendEnabled", "set_send_enabled", "authority"],
  ["sdk.authz.v1beta1.MsgGrant", "cosmos-sdk/MsgGrant", "grant", "granter"],
  ["sdk.authz.v1beta1.MsgExec", "cosmos-sdk/MsgExec", "exec", "grantee"],
  ["sdk.authz.v1beta1.MsgRevoke", "cosmos-sdk/MsgRevoke", "revoke", "granter"],
  ["sdk.feegrant.v1beta1.MsgGrantAllowance", "cosmos-sdk/MsgGrantAllowance", "grant_allowance", "granter"],
  // The family signs it only in mode direct.
  ["sdk.feegrant.v1beta1.MsgPruneAllowances", "", "prune_allowances", "pruner"],
  ["sdk.feegrant.v1beta1.MsgRevokeAllowance", "cosmos-sdk/MsgRevokeAllowance", "revoke_allowance", "granter"],
  ["sdk.gov.v1.MsgSubmitProposal", "cosmos-sdk/v1/MsgSubmitProposal", "submit_proposal", "proposer"],
  ["sdk.gov.v1.MsgExecLegacyContent", "cosmos-sdk/v1/MsgExecLegacyContent", "exec_legacy_content", "authority"],
  ["sdk.gov.v1.MsgVote", "cosmos-sdk/v1/MsgVote", "vote", "voter"],
  ["sdk.gov.v1.MsgVoteWeighted", "cosmos-sdk/v1/MsgVoteWeighted", "weighted_vote", "voter"],
  ["sdk.gov.v1.MsgDeposit", "cosmos-sdk/v1/MsgDeposit", "deposit", "depositor"],
  ["sdk.gov.v1.MsgUpdateParams", "cosmos-sdk/x/gov/v1/MsgUpdateParams", "update_params", "authority"],
  ["sdk.gov.v1.MsgCancelProposal", "/cosmos.gov.v1.MsgCancelProposal", "cancel_proposal", "proposer"],
  ["sdk.gov.v1beta1.MsgSubmitProposal", "cosmos-sdk/MsgSubmitProposal", "submit_proposal", "proposer"],
  ["sdk.gov.v1beta1.MsgVote", "cosmos-sdk/MsgVote", "vote", "voter"],
  ["sdk.gov.v1beta1.MsgVoteWeighted", "cosmos-sdk/MsgVoteWeighted", "weighted_vote", "voter"],
  ["sdk.gov.v1beta1.MsgDeposit", "cosmos-sdk/MsgDeposit", "deposit", "depositor"],
  ["sdk.mint.v1beta1.MsgUpdateParams", "cosmos-sdk/x/mint/MsgUpdateParams", "update_params", "authority"],
  ["sdk.evidence.v1beta1.MsgSubmitEvidence", "cosmos-sdk/MsgSubmitEvidence", "submit_evidence", "submitter"],
  ["sdk.slashing.v1beta1.MsgUnjail", "cosmos-sdk/MsgUnjail", "unjail", "validator_addr"],
  ["sdk.slashing.v1beta1.MsgUpdateParams", "cosmos-sdk/x/slashing/MsgUpdateParams", "update_params", "authority"],
  ["sdk.staking.v1beta1.MsgCreateValidator", "cosmos-sdk/MsgCreateValidator", "create_validator", "validator_address"],
  ["sdk.staking.v1beta1.MsgEditValidator", "cosmos-sdk/MsgEditValidator", "edit_validator", "validator_address"],
  ["sdk.staking.v1beta1.MsgDelegate", "cosmos-sdk/MsgDelegate", "delegate", "delegator_address"],
  ["sdk.staking.v1beta1.MsgBeginRedelegate", "cosmos-sdk/MsgBeginRedelegate", "begin_redelegate", "delegator_address"],
  ["sdk.staking.v1beta1.MsgUndelegate", "cosmos-sdk/MsgUndelegate", "begin_unbonding", "delegator_address"],
  [
    "sdk.staking.v1beta1.MsgCancelUnbondingDelegation",
    "cosmos-sdk/MsgCancelUnbondingDelegation",
    "cancel_unbond",
    "delegator_address",
  ],
  ["sdk.staking.v1beta1.MsgUpdateParams", "cosmos-sdk/x/staking/MsgUpdateParams", "update_params", "authority"],
  [
    "sdk.distribution.v1beta1.MsgSetWithdrawAddress",
    "cosmos-sdk/MsgModifyWithdrawAddress",
    "set_withdraw_address",
    "delegator_address",
  ],
  [
    "sdk.distribution.v1beta1.MsgWithdrawDelegatorReward",
    "cosmos-sdk/MsgWithdrawDelegationReward",
    "withdraw_delegator_reward",
    "delegator_address",
  ],
  [
    "sdk.distribution.v1beta1.MsgWithdrawValidatorCommission",
    "cosmos-sdk/MsgWithdrawValCommission",
    "withdraw_validator_commission",
    "validator_address",
  ],
  [
    "sdk.distribution.v1beta1.MsgFundCommunityPool",
    "cosmos-sdk/MsgFundCommunityPool",
    "fund_community_pool",
    "depositor",
  ],
  ["sdk.distribution.v1beta1.MsgUpdateParams", "cosmos-sdk/distribution/MsgUpdateParams", "update_params", "authority"],
  [
    "sdk.distribution.v1beta1.MsgCommunityPoolSpend",
    "cosmos-sdk/distr/MsgCommunityPoolSpend",
    "spend_community_pool",
    "authority",
  ],
  [
    "sdk.distribution.v1beta1.MsgDepositValidatorRewardsPool",
    "cosmos-sdk/distr/MsgDepositValRewards",
    "deposit_validator_rewards",
    "depositor",
  ],
  [
    "svc.audit.v1beta1.MsgSignProviderAttributes",
    "svc/MsgSignProviderAttributes",
    "audit-sign-provider-attributes",
    "auditor",
  ],
  [
    "svc.audit.v1beta1.MsgDeleteProviderAttributes",
    "svc/MsgDeleteProviderAttributes",
    "audit-delete-provider-attributes",
    "auditor",
  ],
  ["svc.cert.v1beta1.MsgCreateCertificate", "svc/MsgCreateCertificate", "cert-create-certificate", "owner"],
  ["svc.cert.v1beta1.MsgRevokeCertificate", "svc/MsgRevokeCertificate", "cert-revoke-certificate", "id.owner"],
  ["svc.deployment.v1beta1.MsgCreateDeployment", "svc/MsgCreateDeployment", "create-deployment", "id.owner"],
  [
    "svc.deployment.v1beta1.MsgDepositDeployment",
    "svc/MsgDepositDeployment",
    "deposit-deployment",
    "depositor|id.owner",
  ],
  ["svc.deployment.v1beta1.MsgUpdateDeployment", "svc/MsgUpdateDeployment", "update-deployment", "id.owner"],
  ["svc.deployment.v1beta1.MsgCloseDeployment", "svc/MsgCloseDeployment", "close-deployment", "id.owner"],
  ["svc.deployment.v1beta1.MsgCloseGroup", "svc/MsgCloseGroup", "close-group", "id.owner"],
  ["svc.deployment.v1beta1.MsgPauseGroup", "svc/MsgPauseGroup", "pause-group", "id.owner"],
  ["svc.deployment.v1beta1.MsgStartGroup", "svc/MsgStartGroup", "start-group", "id.owner"],
  ["svc.market.v1beta1.MsgCreateBid", "svc/MsgCreateBid", "create-bid", "provider"],
  ["svc.market.v1beta1.MsgCloseBid", "svc/MsgCloseBid", "close-bid", "bid_id.provider"],
  ["svc.market.v1beta1.MsgCreateLease", "svc/MsgCreateLease", "create-lease", "bid_id.owner"],
  ["svc.market.v1beta1.MsgCloseLease", "svc/MsgCloseLease", "close-lease", "lease_id.owner"],
  ["svc.market.v1beta1.MsgWithdrawLease", "svc/MsgWithdrawLease", "withdraw-lease", "bid_id.provider"],
  ["svc.market.v1beta1.MsgWithdrawLeases", "svc/MsgWithdrawLeases", "withdraw-leases", "provider"],
  ["svc.provider.v1beta1.MsgCreateProvider", "svc/MsgCreateProvider", "create-provider", "owner"],
  ["svc.provider.v1beta1.MsgUpdateProvider", "svc/MsgUpdateProvider", "update-provider", "owner"],
  ["svc.provider.v1beta1.MsgDeleteProvider", "svc/MsgDeleteProvider", "delete-provider", "owner"],
  [
    "sdk.vesting.v1beta1.MsgCreateVestingAccount",
    "cosmos-sdk/MsgCreateVestingAccount",
    "msg_create_vesting_account",
    "from_address",
  ],
  [
    "sdk.vesting.v1beta1.MsgCreatePermanentLockedAccount",
    "cosmos-sdk/MsgCreatePermLockedAccount",
    "msg_create_permanent_locked_account",
    "from_address",
  ],
  [
    "sdk.vesting.v1beta1.MsgCreatePeriodicVestingAccount",
    "cosmos-sdk/MsgCreatePeriodVestAccount",
    "msg_create_periodic_vesting_account",
    "from_address",
  ],
  ["sdk.auth.v1beta1.MsgUpdateParams", "cosmos-sdk/x/auth/MsgUpdateParams", "update_params", "authority"],
  ["sdk.bank.v1beta1.MsgUpdateParams", "cosmos-sdk/x/bank/MsgUpdateParams", "update_params", "authority"],
  ["sdk.consensus.v1.MsgUpdateParams", "cosmos-sdk/x/consensus/MsgUpdateParams", "update_params", "authority"],
  ["sdk.upgrade.v1beta1.MsgSoftwareUpgrade", "cosmos-sdk/MsgSoftwareUpgrade", "software_upgrade", "authority"],
  ["sdk.upgrade.v1beta1.MsgCancelUpgrade", "cosmos-sdk/MsgCancelUpgrade", "cancel_upgrade", "authority"],
  ["svc.audit.v1beta1.MsgUpdateParams", "svc/audit/MsgUpdateParams", "update_params", "authority"],
  ["svc.cert.v1beta1.MsgUpdateParams", "svc/cert/MsgUpdateParams", "update_params", "authority"],
  ["svc.deployment.v1beta1.MsgUpdateParams", "svc/deployment/MsgUpdateParams", "update_params", "authority"],
  ["svc.escrow.v1beta1.MsgUpdateParams", "svc/escrow/MsgUpdateParams", "update_params", "authority"],
  ["svc.market.v1beta1.MsgUpdateParams", "svc/market/MsgUpdateParams", "update_params", "authority"],
  ["svc.provider.v1beta1.MsgUpdateParams", "svc/provider/MsgUpdateParams", "update_params", "authority"],
];

describe("messages of transactions", () => {
  it("have the names, actions and signers that were published", () => {
    const found = allMsgs().map((schema) => [
      schema.typeName,
      aminoName(schema) ?? "",
      messageAction(schema),
      signerPath(schema),
    ]);
    expect(found.sort()).toEqual([...MESSAGES].map((row) => [...row]).sort());
  });

  it("have amino names that hardware wallets accept, each its own", () => {
    const names = MESSAGES.map(([, name]) => name);
    expect(names.filter((name) => name.length > 39)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
