import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../../test/support/chain/index.ts";
import { DEFAULT_CONSENSUS_PARAMS, type Misbehavior } from "../../abci/index.ts";
import { consensusAddress, sha256 } from "../../crypto/index.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { toHexUpper } from "../../util/index.ts";
import { type Equivocation, EquivocationSchema } from "../../wire/gen/sdk/evidence/v1beta1/evidence_pb.js";
import { Query } from "../../wire/gen/sdk/evidence/v1beta1/query_pb.js";
import { MsgSubmitEvidenceResponseSchema, MsgSubmitEvidenceSchema } from "../../wire/gen/sdk/evidence/v1beta1/tx_pb.js";
import { Query as Staking } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { encodeAddress, encodeMessage, evidenceErrors, fromNanos, packAny, unpackAs } from "../../wire/index.ts";
import { type EvidenceHandler, evidenceModule } from "./index.ts";

const M = 1_000_000n;
const { maxAgeNumBlocks, maxAgeDuration } = DEFAULT_CONSENSUS_PARAMS.evidence;

function newChain(): TestChain {
  const chain = testChain();
  for (const name of ["alice", "bob"])
    chain.mustSend(createValidatorMessage(chain.key(name), { amount: 10n * M }), { from: chain.key(name) });
  return chain;
}

const consensusOf = (name: string) => consensusAddress(consensusKey(name));

function misbehavior(chain: TestChain, changes: Partial<Misbehavior> = {}, name = "bob"): Misbehavior {
  const validator = { address: consensusOf(name), power: 10n };
  return {
    kind: "duplicateVote",
    validator,
    height: chain.height,
    time: chain.time,
    totalVotingPower: 20n,
    ...changes,
  };
}

function equivocation(changes: object = {}): Equivocation {
  const consensusAddress = encodeAddress(consensusOf("bob"), "valcons");
  const time = fromNanos(1_000_000_000n);
  return create(EquivocationSchema, { height: 1n, power: 1n, time, consensusAddress, ...changes });
}

const all = (chain: TestChain, request: object = {}) => {
  const { evidence, pagination } = chain.query(Query.method.allEvidence, request);
  return { pieces: evidence.map((each) => unpackAs(EquivocationSchema, each)), pagination };
};
const isJailed = (chain: TestChain, name: string) =>
  chain.query(Staking.method.validator, { validatorAddr: operatorAddress(chain.key(name)) }).validator?.jailed;

function submission(chain: TestChain, evidence: Equivocation) {
  return create(MsgSubmitEvidenceSchema, {
    submitter: chain.key("carol").address,
    evidence: packAny(EquivocationSchema, evidence),
  });
}

describe("what the engine proves", () => {
  test.each(["duplicateVote", "lightClientAttack"] as const)("%s is punished and kept, under its hash", (kind) => {
    const chain = newChain();
    const proof = misbehavior(chain, { kind });
    chain.block([], [proof]);
    expect(isJailed(chain, "bob")).toBe(true);
    const kept = equivocation({ height: proof.height, time: fromNanos(proof.time), power: 10n });
    expect(all(chain).pieces).toEqual([kept]);
    const evidenceHash = sha256(encodeMessage(EquivocationSchema, kept));
    for (const request of [
      { evidenceHash },
      { hash: toHexUpper(evidenceHash) },
      { hash: toHexUpper(evidenceHash).toLowerCase() },
    ])
      expect(unpackAs(EquivocationSchema, chain.query(Query.method.evidence, request).evidence)).toEqual(kept);
  });

  test("is counted once, whoever reports it and however often", () => {
    const chain = newChain();
    const proof = misbehavior(chain);
    chain.block([], [proof, proof, misbehavior(chain, { time: proof.time + 1n }), misbehavior(chain, {}, "alice")]);
    expect(all(chain).pieces).toHaveLength(2);
    chain.block([], [proof, misbehavior(chain, { height: proof.height - 1n })]);
    expect(all(chain).pieces).toHaveLength(2);
  });

  test("does not matter when nobody knows the validator", () => {
    const chain = newChain();
    chain.block([], [misbehavior(chain, {}, "stranger")]);
    expect(all(chain).pieces).toEqual([]);
  });

  test.each([
    ["one beyond both ages", -1n, -1n, false],
    ["at the age in blocks, one beyond the other", 0n, -1n, true],
    ["one beyond the age in blocks, at the other", -1n, 0n, true],
  ])("matters or not by both ages together: %s", (_name, blocks, nanoseconds, punished) => {
    const chain = newChain();
    // The block that brings it is the next one, six seconds later.
    const height = chain.height + 1n - maxAgeNumBlocks + blocks;
    const time = chain.time + 6_000_000_000n - maxAgeDuration + nanoseconds;
    chain.block([], [misbehavior(chain, { height, time })]);
    expect(isJailed(chain, "bob")).toBe(punished);
    expect(all(chain).pieces).toHaveLength(punished ? 1 : 0);
  });

  test("goes with an exported state", () => {
    const chain = newChain();
    chain.block([], [misbehavior(chain)]);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
    expect(first).toMatchObject({
      evidence: { evidence: [{ "@type": "/sdk.evidence.v1beta1.Equivocation", power: "10" }] },
    });
  });
});

describe("queries", () => {
  test("list a page, in the spelling of the question", () => {
    const chain = newChain();
    chain.block([], [misbehavior(chain), misbehavior(chain, {}, "alice")]);
    const { pieces, pagination } = all(chain, { pagination: { limit: 1n } });
    expect(pieces).toHaveLength(1);
    const next = all(chain, { pagination: { limit: 1n, key: pagination?.nextKey ?? new Uint8Array() } });
    expect(next.pieces).not.toEqual(pieces);
    expect(next.pagination?.nextKey).toHaveLength(0);
  });

  test.each([
    ["no hash", {}, "hash is empty"],
    ["no hex", { hash: "xyz" }, "invalid evidence hash"],
    ["half a hash", { hash: "AB".repeat(16) }, `evidence ${"AB".repeat(16)} not found`],
    ["one byte too many", { hash: "AB".repeat(33) }, `evidence ${"AB".repeat(32)} not found`],
    ["a hash of nothing", { hash: "AB".repeat(32) }, `evidence ${"AB".repeat(32)} not found`],
  ])("are refused for %s", (_name, request, text) => {
    expect(() => testChain().query(Query.method.evidence, request)).toThrow(text);
  });
});

describe("MsgSubmitEvidence", () => {
  test("is refused on this chain, which has no handler", () => {
    const chain = newChain();
    const from = { from: chain.key("carol") };
    expect(chain.send(submission(chain, equivocation()), from)).toMatchObject({ codespace: "evidence", code: 2 });
    expect(isJailed(chain, "bob")).toBe(false);
  });

  test("is refused for what is there already", () => {
    const chain = newChain();
    chain.block([], [misbehavior(chain)]);
    const [kept] = all(chain).pieces;
    const from = { from: chain.key("carol") };
    expect(chain.send(submission(chain, kept ?? equivocation()), from)).toMatchObject({
      codespace: "evidence",
      code: 5,
    });
  });

  test.each([
    ["without a time", { time: undefined }],
    ["before 1970-01-01T00:00:01Z", { time: fromNanos(999_999_999n) }],
    ["without a height", { height: 0n }],
    ["without power", { power: 0n }],
    ["of a negative power", { power: -1n }],
    ["of nobody", { consensusAddress: "" }],
    ["of an operator", { consensusAddress: encodeAddress(consensusOf("bob"), "valoper") }],
  ])("is refused %s, before it costs anything", (_name, changes) => {
    const chain = newChain();
    const message = submission(chain, equivocation(changes));
    expect(chain.send(message, { from: chain.key("carol") })).toMatchObject({ codespace: "evidence", code: 3 });
  });

  test("is refused without evidence, and with another kind of value", () => {
    const chain = newChain();
    const settings = { from: chain.key("carol") };
    const submitter = settings.from.address;
    const nothing = create(MsgSubmitEvidenceSchema, { submitter });
    expect(chain.send(nothing, settings)).toMatchObject({ codespace: "evidence", code: 3 });
    const other = create(MsgSubmitEvidenceSchema, { submitter, evidence: packAny(MsgSubmitEvidenceSchema, nothing) });
    expect(chain.send(other, settings).code).not.toBe(0);
  });
});

describe("a chain with a handler", () => {
  const withHandler = (equivocationHandler: EvidenceHandler) =>
    testChain({
      modules: () => [
        evidenceModule({
          penalties: { isPunishable: () => false, punishDoubleSign: () => {} },
          ages: () => DEFAULT_CONSENSUS_PARAMS.evidence,
          handlers: { equivocation: equivocationHandler },
        }).module,
      ],
    });

  test("keeps what the handler accepts, once, and returns its hash", () => {
    const seen: Equivocation[] = [];
    const chain = withHandler((_, evidence) => void seen.push(evidence));
    const settings = { from: chain.key("carol") };
    const evidence = equivocation();
    const sent = chain.mustSend(submission(chain, evidence), settings);
    const hash = sha256(encodeMessage(EquivocationSchema, evidence));
    expect(toHexUpper(sent.response(MsgSubmitEvidenceResponseSchema).hash)).toBe(toHexUpper(hash));
    expect(sent.events).toContainEqual({
      type: "submit_evidence",
      attributes: expect.arrayContaining([expect.objectContaining({ key: "evidence_hash", value: toHexUpper(hash) })]),
    });
    expect(seen).toEqual([evidence]);
    expect(chain.send(submission(chain, evidence), settings)).toMatchObject({ codespace: "evidence", code: 5 });
  });

  test("keeps nothing that the handler refuses", () => {
    const chain = withHandler(() => {
      throw evidenceErrors.notFound("no such vote");
    });
    const sent = chain.send(submission(chain, equivocation()), { from: chain.key("carol") });
    expect(sent).toMatchObject({ codespace: "evidence", code: 3 });
    expect(all(chain).pieces).toEqual([]);
  });
});

describe("genesis", () => {
  const piece = {
    "@type": "/sdk.evidence.v1beta1.Equivocation",
    height: "1",
    power: "1",
    time: "2025-01-01T00:00:00Z",
  };
  const consensus_address = encodeAddress(consensusOf("bob"), "valcons");
  test.each([
    ["the same piece twice", [1, 1], "evidence"],
    ["evidence of nobody", [0], "invalid evidence"],
  ])("is refused with %s", (_name, list, text) => {
    const evidence = list.map((has) => (has === 1 ? { ...piece, consensus_address } : piece));
    expect(() => testChain({ genesis: { evidence: { evidence } } })).toThrow(text);
  });
});
