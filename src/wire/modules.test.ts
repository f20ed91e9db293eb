import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { packAny } from "./any.ts";
import { decodeMessage, encodeMessage, wireErrors } from "./codec/index.ts";
import { GenericAuthorizationSchema } from "./gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgGrantSchema } from "./gen/sdk/authz/v1beta1/tx_pb.js";
import { AllowedMsgAllowanceSchema, BasicAllowanceSchema } from "./gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "./gen/sdk/feegrant/v1beta1/tx_pb.js";
import { ProposalSchema as NewProposalSchema } from "./gen/sdk/gov/v1/gov_pb.js";
import { QueryParamsResponseSchema } from "./gen/sdk/gov/v1/query_pb.js";
import { MsgVoteSchema as NewVoteSchema } from "./gen/sdk/gov/v1/tx_pb.js";
import { TallyParamsSchema, TextProposalSchema, VoteOption } from "./gen/sdk/gov/v1beta1/gov_pb.js";
import { MsgSubmitProposalSchema, MsgVoteSchema, MsgVoteWeightedSchema } from "./gen/sdk/gov/v1beta1/tx_pb.js";
import { QueryInflationResponseSchema } from "./gen/sdk/mint/v1beta1/query_pb.js";
import { ParamsSchema } from "./gen/sdk/slashing/v1beta1/slashing_pb.js";
import { MsgUnjailSchema } from "./gen/sdk/slashing/v1beta1/tx_pb.js";
import {
  AuthorizationType,
  StakeAuthorization_ValidatorsSchema,
  StakeAuthorizationSchema,
} from "./gen/sdk/staking/v1beta1/authz_pb.js";
import { fromJson, printJson, sortJson, toJson } from "./json/index.ts";
import { aminoMessage } from "./tx/amino.ts";

/** The forms that hardware wallets sign, equal to the reference tool's, which `test/interop/` checks. */
describe("amino JSON of modules that other chains have", () => {
  function amino<D extends DescMessage>(schema: D, message: MessageInitShape<D>): string {
    return printJson(sortJson(aminoMessage({ schema, value: create(schema, message) })));
  }

  it("the validator of an unjail has the older name", () => {
    expect(amino(MsgUnjailSchema, { validatorAddr: "v" })).toBe(
      '{"type":"cosmos-sdk/MsgUnjail","value":{"address":"v"}}',
    );
  });

  it("options of votes are numbers, weights decimals", () => {
    const vote = { proposalId: 7n, voter: "a", option: VoteOption.NO_WITH_VETO };
    expect(amino(MsgVoteSchema, vote)).toBe(
      '{"type":"cosmos-sdk/MsgVote","value":{"option":4,"proposal_id":"7","voter":"a"}}',
    );
    expect(amino(NewVoteSchema, { ...vote, metadata: "why" })).toBe(
      '{"type":"cosmos-sdk/v1/MsgVote","value":{"metadata":"why","option":4,"proposal_id":"7","voter":"a"}}',
    );
    const options = [{ option: VoteOption.YES, weight: (6n * 10n ** 17n).toString() }];
    expect(amino(MsgVoteWeightedSchema, { proposalId: 7n, options })).toBe(
      '{"type":"cosmos-sdk/MsgVoteWeighted","value":{"options":[{"option":1,"weight":"0.600000000000000000"}],"proposal_id":"7"}}',
    );
  });

  it("a proposal holds its content with its type, and an empty deposit", () => {
    const content = packAny(TextProposalSchema, { title: "t", description: "d" });
    expect(amino(MsgSubmitProposalSchema, { content, proposer: "a" })).toBe(
      '{"type":"cosmos-sdk/MsgSubmitProposal","value":{"content":{"type":"cosmos-sdk/TextProposal","value":' +
        '{"description":"d","title":"t"}},"initial_deposit":[],"proposer":"a"}}',
    );
  });

  it("grants: authorizations, times, and an allowance inside another", () => {
    const authorization = packAny(GenericAuthorizationSchema, { msg: "/m" }, "cosmos");
    const grant = { authorization, expiration: { seconds: 1_800_000_000n } };
    expect(amino(MsgGrantSchema, { granter: "a", grantee: "b", grant })).toBe(
      '{"type":"cosmos-sdk/MsgGrant","value":{"grant":{"authorization":{"type":"cosmos-sdk/GenericAuthorization",' +
        '"value":{"msg":"/m"}},"expiration":"2027-01-15T08:00:00Z"},"grantee":"b","granter":"a"}}',
    );
    const basic = packAny(BasicAllowanceSchema, {});
    const allowance = packAny(AllowedMsgAllowanceSchema, { allowance: basic, allowedMessages: ["/m"] });
    expect(amino(MsgGrantAllowanceSchema, { granter: "a", grantee: "b", allowance })).toBe(
      '{"type":"cosmos-sdk/MsgGrantAllowance","value":{"allowance":{"type":"cosmos-sdk/AllowedMsgAllowance","value":' +
        '{"allowance":{"type":"cosmos-sdk/BasicAllowance","value":{"spend_limit":[]}},"allowed_messages":["/m"]}},' +
        '"grantee":"b","granter":"a"}}',
    );
  });

  it("the chosen list of a delegation's authorization, and none", () => {
    const authorizationType = AuthorizationType.DELEGATE;
    const value = create(StakeAuthorization_ValidatorsSchema, { address: ["v"] });
    const validators = { case: "denyList", value } as const;
    expect(amino(StakeAuthorizationSchema, { authorizationType, validators })).toBe(
      '{"type":"cosmos-sdk/StakeAuthorization","value":{"Validators":{"type":"cosmos-sdk/StakeAuthorization/DenyList",' +
        '"value":{"deny_list":{"address":["v"]}}},"authorization_type":1}}',
    );
    expect(amino(StakeAuthorizationSchema, { authorizationType })).toBe(
      '{"type":"cosmos-sdk/StakeAuthorization","value":{"Validators":null,"authorization_type":1}}',
    );
  });
});

describe("proto JSON of modules that other chains have", () => {
  it("decimals in bytes go there and back", () => {
    const params = create(ParamsSchema, { minSignedPerWindow: new TextEncoder().encode("500000000000000000") });
    const json = toJson(ParamsSchema, params);
    expect(json).toMatchObject({
      min_signed_per_window: "0.500000000000000000",
      slash_fraction_downtime: "0.000000000000000000",
      downtime_jail_duration: "0s",
    });
    const bytes = encodeMessage(ParamsSchema, fromJson(ParamsSchema, json));
    const again = decodeMessage(ParamsSchema, bytes, wireErrors.malformed);
    expect(again.minSignedPerWindow).toEqual(params.minSignedPerWindow);
    expect(() => fromJson(TallyParamsSchema, { quorum: "a third" })).toThrow('quorum: "a third" is not a number');
  });

  it.each(["-0", "1.5", "x", "\u00ff"])("never shows the bytes of %j as a decimal", (text) => {
    const inflation = new TextEncoder().encode(text);
    const json = toJson(QueryInflationResponseSchema, create(QueryInflationResponseSchema, { inflation }));
    expect(json).toEqual({ inflation: expect.stringMatching(/^malformed:/) });
  });

  it("what a newer proposal has not is null", () => {
    expect(toJson(NewProposalSchema, create(NewProposalSchema))).toMatchObject({
      messages: [],
      final_tally_result: null,
      voting_end_time: null,
    });
    const params = toJson(QueryParamsResponseSchema, create(QueryParamsResponseSchema, { params: {} }));
    expect(params).toMatchObject({ voting_params: null, params: { voting_period: null, min_deposit: [] } });
  });
});
