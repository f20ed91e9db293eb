import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { consensusKey, createValidatorMessage } from "../../../test/support/chain/index.ts";
import { type ConsensusParams, consensusParamsFields, DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../../abci/index.ts";
import { consensusAddress, moduleAddress } from "../../crypto/index.ts";
import { LEAST_BLOCK_BYTES, LEAST_BLOCK_GAS } from "../../runtime/index.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Query } from "../../wire/gen/sdk/consensus/v1/query_pb.js";
import { type MsgUpdateParams, MsgUpdateParamsSchema } from "../../wire/gen/sdk/consensus/v1/tx_pb.js";
import { Query as Evidence } from "../../wire/gen/sdk/evidence/v1beta1/query_pb.js";
import { ProposalStatus, VoteOption } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query as Gov } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgSubmitProposalSchema, MsgVoteSchema } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { MsgSubmitProposalSchema as OldSubmitSchema } from "../../wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { ParameterChangeProposalSchema } from "../../wire/gen/sdk/params/v1beta1/query_pb.js";
import { encodeAddress, packAny } from "../../wire/index.ts";

const GOV = encodeAddress(moduleAddress("gov"));
const M = 1_000_000n;
const deposit = [{ denom: NATIVE_DENOM, amount: `${10n * M}` }];

/** A validator alone has all votes; a vote lasts two blocks. */
function newChain(): TestChain {
  const params = { voting_period: "12s", expedited_voting_period: "6s", max_deposit_period: "12s" };
  const chain = testChain({ genesis: { gov: { starting_proposal_id: "1", params: { ...GOV_PARAMS, ...params } } } });
  chain.mustSend(createValidatorMessage(chain.key("alice"), { amount: 10n * M }), { from: chain.key("alice") });
  return chain;
}

const GOV_PARAMS = {
  min_deposit: deposit,
  expedited_min_deposit: [{ denom: NATIVE_DENOM, amount: `${50n * M}` }],
  quorum: "0.334",
  threshold: "0.5",
  expedited_threshold: "0.667",
  veto_threshold: "0.334",
  min_initial_deposit_ratio: "0",
  proposal_cancel_ratio: "0.5",
  min_deposit_ratio: "0.01",
};

type Changes = { readonly [K in keyof ConsensusParams]?: Partial<ConsensusParams[K]> };

function paramsWith({ block, evidence, validator }: Changes): ConsensusParams {
  const defaults = { ...DEFAULT_CONSENSUS_PARAMS, block: { ...DEFAULT_CONSENSUS_PARAMS.block, maxGas: -1n } };
  return {
    block: { ...defaults.block, ...block },
    evidence: { ...defaults.evidence, ...evidence },
    validator: { ...defaults.validator, ...validator },
  };
}

const updating = (params: ConsensusParams, rest: object = {}): MsgUpdateParams =>
  create(MsgUpdateParamsSchema, { authority: GOV, ...consensusParamsFields(params), ...rest });

function submit(chain: TestChain, message: MsgUpdateParams) {
  const from = chain.key("alice");
  const messages: Any[] = [packAny(MsgUpdateParamsSchema, message)];
  const proposal = {
    messages,
    initialDeposit: deposit,
    proposer: from.address,
    title: "Blocks",
    summary: "of another size",
  };
  return chain.send(create(MsgSubmitProposalSchema, proposal), { from });
}

/** Submits the change, votes for it and makes blocks until the vote has ended. */
function pass(chain: TestChain, message: MsgUpdateParams): void {
  expect(submit(chain, message).log).not.toContain("invalid");
  const from = chain.key("alice");
  const voter = from.address;
  const { proposals } = chain.query(Gov.method.proposals, {});
  const proposalId = proposals.at(-1)?.id ?? 0n;
  chain.mustSend(create(MsgVoteSchema, { proposalId, voter, option: VoteOption.YES }), { from });
  while (chain.query(Gov.method.proposal, { proposalId }).proposal?.status === ProposalStatus.VOTING_PERIOD)
    chain.nextBlock();
  expect(chain.query(Gov.method.proposal, { proposalId }).proposal).toMatchObject({
    status: ProposalStatus.PASSED,
    failedReason: "",
  });
}

const transfer = (chain: TestChain, gas: bigint) => {
  const from = chain.key("bob");
  const message = create(MsgSendSchema, {
    fromAddress: from.address,
    toAddress: chain.key("carol").address,
    amount: [{ denom: NATIVE_DENOM, amount: "1" }],
  });
  return chain.sign(message, { from, gas });
};

/** Whether a block with this transaction would be taken of another proposer. */
function accepts(chain: TestChain, tx: Uint8Array): boolean {
  const place = { ...NO_VOTERS, height: chain.height + 1n, time: chain.time + 1n, proposer: new Uint8Array(20) };
  return chain.app.processProposal({ ...place, txs: [tx], hash: new Uint8Array(32) });
}

describe("a proposal that changes the gas of a block", () => {
  test("holds for proposals, checks and blocks from the next block on, also after a restart", () => {
    const chain = newChain();
    const wanted = paramsWith({ block: { maxGas: 3_000_000n } });
    const large = transfer(chain, 3_000_001n);
    expect(chain.propose([large])).toHaveLength(1);
    pass(chain, updating(wanted));
    expect(chain.consensusParamUpdates).toEqual(wanted);
    expect(chain.blockEvents).toContainEqual({
      type: "update_consensus_params",
      attributes: expect.arrayContaining([
        expect.objectContaining({ key: "authority", value: GOV }),
        expect.objectContaining({ key: "parameters", value: expect.stringContaining('"max_gas":"3000000"') }),
      ]),
    });
    for (let i = 0; i < 2; i++) {
      expect(chain.app.checkTx({ tx: transfer(chain, 3_000_001n), kind: "trial" })).toMatchObject({
        codespace: "sdk",
        code: 41,
      });
      expect(chain.app.checkTx({ tx: transfer(chain, 3_000_000n), kind: "trial" }).code).toBe(0);
      expect(chain.propose([transfer(chain, 3_000_001n)])).toEqual([]);
      expect(chain.propose([transfer(chain, 3_000_000n)])).toHaveLength(1);
      expect(accepts(chain, transfer(chain, 3_000_001n))).toBe(false);
      expect(accepts(chain, transfer(chain, 3_000_000n))).toBe(true);
      chain.nextBlock();
      expect(chain.consensusParamUpdates).toBeUndefined();
      chain.restart();
    }
    expect(chain.app.consensusParams).toEqual(wanted);
    const { params } = chain.query(Query.method.params, {});
    expect(params).toMatchObject({ ...consensusParamsFields(wanted), version: { app: 0n }, abci: {} });
  });

  test("goes with an exported state", () => {
    const chain = newChain();
    const wanted = paramsWith({ block: { maxGas: 7_000_000n }, evidence: { maxAgeNumBlocks: 9n } });
    pass(chain, updating(wanted));
    chain.nextBlock();
    expect(chain.app.consensusParams).toEqual(wanted);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });

  test("to its present value changes nothing, and does not reach the engine", () => {
    const chain = newChain();
    pass(chain, updating(paramsWith({})));
    expect(chain.consensusParamUpdates).toBeUndefined();
  });
});

test("evidence is too old by the ages that governance chose", () => {
  const punished = (ages: Partial<ConsensusParams["evidence"]>): number => {
    const chain = newChain();
    pass(chain, updating(paramsWith({ evidence: ages })));
    const validator = { address: consensusAddress(consensusKey("alice")), power: 10n };
    const [height, time] = [chain.height, chain.time];
    chain.nextBlock(4);
    chain.block([], [{ kind: "duplicateVote", validator, height, time, totalVotingPower: 10n }]);
    return chain.query(Evidence.method.allEvidence, {}).evidence.length;
  };
  // Five blocks of six seconds later.
  const [age, blocks] = [30_000_000_000n, 5n];
  expect(punished({ maxAgeDuration: age - 1n, maxAgeNumBlocks: blocks - 1n })).toBe(0);
  expect(punished({ maxAgeDuration: age, maxAgeNumBlocks: blocks - 1n })).toBe(1);
  expect(punished({ maxAgeDuration: age - 1n, maxAgeNumBlocks: blocks })).toBe(1);
});

describe("bad parameters", () => {
  const chain = newChain();
  const most = 104_857_600n;

  test.each<[string, Changes]>([
    ["bytes of a block of 0", { block: { maxBytes: 0n } }],
    ["fewer bytes than proposals need", { block: { maxBytes: LEAST_BLOCK_BYTES - 1n }, evidence: { maxBytes: 0n } }],
    ["no gas", { block: { maxGas: 0n } }],
    ["less gas than proposals need", { block: { maxGas: LEAST_BLOCK_GAS - 1n } }],
    ["bytes of a block below -1", { block: { maxBytes: -2n } }],
    ["more bytes than 100 MiB", { block: { maxBytes: most + 1n } }],
    ["gas below -1", { block: { maxGas: -2n } }],
    ["no age of evidence in blocks", { evidence: { maxAgeNumBlocks: 0n } }],
    ["a negative age of evidence in blocks", { evidence: { maxAgeNumBlocks: -1n } }],
    ["no age of evidence in time", { evidence: { maxAgeDuration: 0n } }],
    ["an age of evidence beyond 63 bits", { evidence: { maxAgeDuration: 2n ** 63n } }],
    ["negative bytes of evidence", { evidence: { maxBytes: -1n } }],
    ["more bytes of evidence than of a block", { block: { maxBytes: 1000n }, evidence: { maxBytes: 1001n } }],
    ["more bytes of evidence than of any block", { block: { maxBytes: -1n }, evidence: { maxBytes: most + 1n } }],
    ["no types of keys", { validator: { pubKeyTypes: [] } }],
    ["unknown types of keys", { validator: { pubKeyTypes: ["ed25519", "bls12381"] } }],
    ["a type of keys that no validator has", { validator: { pubKeyTypes: ["secp256k1"] } }],
    ["a type of keys twice", { validator: { pubKeyTypes: ["ed25519", "ed25519"] } }],
  ])("are refused when they are proposed: %s", (_name, changes) => {
    expect(submit(chain, updating(paramsWith(changes)))).toMatchObject({ codespace: "gov", code: 12 });
  });

  test.each<[string, Changes]>([
    ["the fewest bytes", { block: { maxBytes: LEAST_BLOCK_BYTES }, evidence: { maxBytes: 0n } }],
    ["100 MiB", { block: { maxBytes: most } }],
    ["the engine's own limit, all of it for evidence", { block: { maxBytes: -1n }, evidence: { maxBytes: most } }],
    ["the least gas", { block: { maxGas: LEAST_BLOCK_GAS } }],
    ["the shortest ages", { evidence: { maxAgeNumBlocks: 1n, maxAgeDuration: 1n } }],
    ["the longest age", { evidence: { maxAgeDuration: 2n ** 63n - 1n } }],
    ["all known types of keys", { validator: { pubKeyTypes: ["ed25519", "secp256k1"] } }],
  ])("are not those at an end: %s", (_name, changes) => {
    expect(submit(chain, updating(paramsWith(changes))).code).toBe(0);
  });

  test.each<[string, object]>([
    ["block", { block: undefined }],
    ["evidence", { evidence: undefined }],
    ["validator", { validator: undefined }],
  ])("are those without a part: %s", (_name, missing) => {
    expect(submit(chain, updating(paramsWith({}), missing))).toMatchObject({ codespace: "gov", code: 12 });
  });

  test("are extensions of votes", () => {
    const abci = (height: bigint) => ({ abci: { voteExtensionsEnableHeight: height } });
    expect(submit(chain, updating(paramsWith({}), abci(1n)))).toMatchObject({ codespace: "gov", code: 12 });
    expect(submit(chain, updating(paramsWith({}), abci(0n))).code).toBe(0);
  });

  test("are refused by their own number, and all of them to anybody but governance", () => {
    const alice = chain.key("alice");
    const authority = alice.address;
    const good = { ...updating(paramsWith({})), authority };
    expect(chain.send(good, { from: alice })).toMatchObject({ codespace: "sdk", code: 4 });
    const bad = { ...updating(paramsWith({ block: { maxGas: -2n } })), authority };
    expect(chain.send(bad, { from: alice })).toMatchObject({ codespace: "consensus", code: 2 });
  });

  test("cannot be changed one by one by the older proposals", () => {
    const from = chain.key("alice");
    const changes = [{ subspace: "consensus", key: "block", value: '{"max_gas":"1"}' }];
    const change = create(ParameterChangeProposalSchema, { title: "Blocks", description: "of another size", changes });
    const content = packAny(ParameterChangeProposalSchema, change);
    const old = create(OldSubmitSchema, { content, initialDeposit: deposit, proposer: from.address });
    expect(chain.send(old, { from })).toMatchObject({ codespace: "gov", log: expect.stringContaining("consensus") });
  });
});
