import { describe, expect, it, test } from "vitest";
import {
  bytesOf,
  commitOf,
  inOrder,
  LightChain,
  type Member,
  member,
  publicParts,
  SECOND,
  START,
  silentMember,
  type Votes,
  vote,
} from "../../test/support/light/chain.ts";
import { consensusAddress } from "../crypto/index.ts";
import { equalBytes } from "../util/index.ts";
import { validatorsHash } from "../wire/index.ts";
import { hashOf, type LightBlock, type LightHeader } from "./block.ts";
import { verifyBackwards, verifyBlock, verifyRoot } from "./verify.ts";

const MEMBERS = inOrder([1, 2, 3, 4].map((number) => member(number)));
const OTHERS = inOrder([11, 12, 13, 14].map((number) => member(number)));
const NOW = START + 100n * SECOND;
const OPTIONS = { now: NOW, period: 1000n * SECOND };

function chainOf(votes: Votes = () => 2): LightChain {
  const chain = new LightChain();
  for (let i = 0; i < 5; i += 1) chain.add({ members: MEMBERS, votes });
  return chain;
}

/** A block with another header that the same validators sign. */
function resigned(block: LightBlock, change: Partial<LightHeader>, members: readonly Member[] = MEMBERS): LightBlock {
  const header = { ...block.header, ...change };
  return { ...block, header, commit: commitOf(header, members, { votes: () => 2, round: 0 }) };
}

const CHAIN = chainOf();
const TRUSTED = CHAIN.at(1);
const NEXT = CHAIN.at(2);
const LATER = CHAIN.at(4);

describe("a later block", () => {
  it.each([
    ["the next one", NEXT],
    ["another one", LATER],
  ])("%s is verified", (_, block) => expect(() => verifyBlock(TRUSTED, block, OPTIONS)).not.toThrow());

  it.each<[string, Partial<LightHeader>]>([
    ["format", { version: { block: 12n, app: 0n } }],
    ["version of the application", { version: { block: 11n, app: 1n } }],
    ["height", { height: 3n }],
    ["time", { time: LATER.header.time + 1n }],
    ["block before", { lastBlockId: { hash: bytesOf("x"), parts: { total: 1, hash: bytesOf("x") } } }],
    ["votes of the block before", { lastCommitHash: bytesOf("x") }],
    ["transactions", { dataHash: bytesOf("x") }],
    ["validators", { validatorsHash: bytesOf("x") }],
    ["next validators", { nextValidatorsHash: bytesOf("x") }],
    ["parameters", { consensusHash: bytesOf("x") }],
    ["app hash", { appHash: bytesOf("x") }],
    ["results", { lastResultsHash: bytesOf("x") }],
    ["evidence", { evidenceHash: bytesOf("x") }],
    ["proposer", { proposerAddress: bytesOf("x").subarray(0, 20) }],
  ])("is refused if its header has another %s than the one that was signed", (_, change) => {
    const block = { ...LATER, header: { ...LATER.header, ...change } };
    expect(() => verifyBlock(TRUSTED, block, OPTIONS)).toThrow("the block is not valid");
  });

  it.each<[string, Partial<LightHeader>, string]>([
    [
      "another chain",
      { chainId: "light-2" },
      'block 4 is of "light-2", and not of "light-1": the node belongs to another chain',
    ],
    ["another format", { version: { block: 10n, app: 0n } }, "block format 10 is not known"],
    ["height 0", { height: 0n }, "heights begin at 1"],
    ["an earlier height", { height: 1n }, "is not after the trusted block 1"],
    ["the time of the trusted block", { time: TRUSTED.header.time }, "is not later than the trusted block 1"],
    ["a time before the trusted block", { time: TRUSTED.header.time - 1n }, "is not later than the trusted block 1"],
    ["a time 10 s from now", { time: NOW + 10n * SECOND }, "has a time in the future"],
    ["a time 11 s from now", { time: NOW + 11n * SECOND }, "has a time in the future"],
    ["a hash of 31 bytes", { dataHash: bytesOf("x").subarray(1) }, "a hash has a wrong length"],
    ["a proposer of 21 bytes", { proposerAddress: bytesOf("x").subarray(0, 21) }, "address has a wrong length"],
    ["no validators", { validatorsHash: new Uint8Array() }, "names another set of validators"],
  ])("with signatures for %s is refused", (_, change, reason) => {
    expect(() => verifyBlock(TRUSTED, resigned(LATER, change), OPTIONS)).toThrow(reason);
  });

  it("may be up to 10 s ahead of the clock", () => {
    const block = resigned(LATER, { time: NOW + 10n * SECOND - 1n });
    expect(() => verifyBlock(TRUSTED, block, OPTIONS)).not.toThrow();
  });

  it("is refused as soon as the trust period is over", () => {
    const { time } = TRUSTED.header;
    const period = 50n * SECOND;
    expect(() => verifyBlock(TRUSTED, NEXT, { now: time + period - 1n, period })).not.toThrow();
    expect(() => verifyBlock(TRUSTED, NEXT, { now: time + period, period })).toThrow(
      "block 1: the trusted block is too old",
    );
  });

  it("must have the validators that the block before announces", () => {
    const chain = new LightChain();
    chain.add({ members: MEMBERS, next: OTHERS });
    chain.add({ members: MEMBERS });
    expect(() => verifyBlock(chain.at(1), chain.at(2), OPTIONS)).toThrow("has other validators than block 1 announces");
  });
});

describe("the votes of a block", () => {
  it("are refused with a signature of another length, before their power is counted", () => {
    const [stays] = MEMBERS;
    if (stays === undefined) throw new Error("there are members");
    const chain = new LightChain();
    for (const members of [MEMBERS, OTHERS, inOrder([stays, ...OTHERS])]) chain.add({ members });
    const block = chain.at(3);
    const isTheirs = (address: Uint8Array) => equalBytes(address, consensusAddress(stays.pubKey));
    const signatures = block.commit.signatures.map((sig) =>
      isTheirs(sig.validatorAddress) ? { ...sig, signature: new Uint8Array(65) } : sig,
    );
    expect(() => verifyBlock(chain.at(1), block, OPTIONS)).toThrow("too few of the trusted validators");
    const long = { ...block, commit: { ...block.commit, signatures } };
    expect(() => verifyBlock(chain.at(1), long, OPTIONS)).toThrow("has a wrong length");
  });

  const changed = (change: (block: LightBlock) => Partial<LightBlock["commit"]>): LightBlock => ({
    ...LATER,
    commit: { ...LATER.commit, ...change(LATER) },
  });
  const { signatures } = LATER.commit;
  const [first, second, third, fourth] = signatures;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) {
    throw new Error("four validators sign");
  }

  it.each<[string, LightBlock, string]>([
    ["none", changed(() => ({ signatures: [] })), "there are none"],
    ["one missing", changed(() => ({ signatures: signatures.slice(1) })), "4 validators and 3 votes"],
    ["one more", changed(() => ({ signatures: [...signatures, first] })), "voted twice|4 validators and 5 votes"],
    ["one twice", changed(() => ({ signatures: [first, first, third, fourth] })), "voted twice"],
    ["two swapped", changed(() => ({ signatures: [second, first, third, fourth] })), "address of another validator"],
    ["another height", changed(() => ({ height: 3n })), "are for block 3"],
    ["another round", changed(() => ({ round: 1 })), "is wrong"],
    ["a negative round", changed(() => ({ round: -1 })), "rounds begin at 0"],
    ["another block", changed(() => ({ blockId: NEXT.commit.blockId })), "has the hash"],
    [
      "other parts",
      changed(({ commit: { blockId } }) => ({
        blockId: { ...blockId, parts: { total: 2, hash: blockId.parts.hash } },
      })),
      "is wrong",
    ],
    [
      "an empty signature",
      changed(() => ({ signatures: [{ ...first, signature: new Uint8Array() }, second, third, fourth] })),
      "vote 0 is malformed",
    ],
    [
      "a signature of 3,310 bytes",
      changed(() => ({ signatures: [{ ...first, signature: new Uint8Array(3_310) }, second, third, fourth] })),
      "vote 0 is malformed",
    ],
    [
      "a wrong signature",
      changed(() => ({ signatures: [{ ...first, signature: second.signature }, second, third, fourth] })),
      "is wrong",
    ],
    [
      "another time in one",
      changed(() => ({ signatures: [{ ...first, timestamp: first.timestamp + 1n }, second, third, fourth] })),
      "is wrong",
    ],
    [
      "an absent vote with a signature",
      changed(() => ({ signatures: [{ ...first, flag: 1 }, second, third, fourth] })),
      "vote 0 is malformed",
    ],
  ])("with %s are refused", (_, block, reason) => {
    expect(() => verifyBlock(TRUSTED, block, OPTIONS)).toThrow(new RegExp(reason));
  });

  it("of other validators under the addresses of the set are refused", () => {
    const { blockId } = LATER.commit;
    const forged = OTHERS.map((each, i) => ({
      ...vote(LATER.header, each, { flag: 2, blockId, round: 0 }),
      validatorAddress: MEMBERS[i]?.address ?? each.address,
    }));
    expect(() =>
      verifyBlock(
        TRUSTED,
        changed(() => ({ signatures: forged })),
        OPTIONS,
      ),
    ).toThrow("is wrong");
  });

  it("for no block count for nothing, even if their signatures are for the block", () => {
    const nil = changed(() => ({ signatures: [{ ...first, flag: 3 }, { ...second, flag: 3 }, third, fourth] }));
    expect(() => verifyBlock(TRUSTED, nil, OPTIONS)).toThrow("two thirds of its validators' power at most");
    const one = changed(() => ({ signatures: [{ ...first, flag: 3 }, second, third, fourth] }));
    expect(() => verifyBlock(TRUSTED, one, OPTIONS)).not.toThrow();
  });

  it.each([
    [1, "two thirds of its validators' power at most"],
    [3, "two thirds of its validators' power at most"],
  ] as const)("of exactly two thirds of the power are too few (others have flag %d)", (flag, reason) => {
    const chain = new LightChain();
    const three = inOrder([1, 2, 3].map((number) => member(number)));
    for (let i = 0; i < 3; i += 1) chain.add({ members: three, votes: (place) => (i > 0 && place === 2 ? flag : 2) });
    expect(() => verifyBlock(chain.at(1), chain.at(2), OPTIONS)).toThrow(reason);
    expect(() => verifyBlock(chain.at(1), chain.at(3), OPTIONS)).toThrow(reason);
  });

  it("of exactly a third of the trusted power are not enough to skip blocks, and of more they are", () => {
    const [a, b, c] = [member(1), member(2), member(3)];
    const chain = new LightChain();
    const mixed = inOrder([a, member(21), member(22)]);
    const better = inOrder([a, b, member(21)]);
    chain.add({ members: inOrder([a, b, c]) });
    chain.add({ members: inOrder([a, b, c]), next: mixed });
    chain.add({ members: mixed, next: better });
    chain.add({ members: better });
    expect(() => verifyBlock(chain.at(1), chain.at(3), OPTIONS)).toThrow("too few of the trusted validators");
    expect(() => verifyBlock(chain.at(1), chain.at(4), OPTIONS)).not.toThrow();
  });

  it("of a set of 10,000 validators are verified, and of more refused", () => {
    const one = member(1, 1_000_000n);
    const many = Array.from({ length: 9_999 }, (_, i) => silentMember(i));
    const set = [one, ...many];
    const chain = new LightChain();
    const block = chain.add({ members: set, votes: (place) => (place === 0 ? 2 : 1) });
    const hash = hashOf(block.header);
    expect(() => verifyRoot("light-1", block, hash)).not.toThrow();
    const larger = { ...block, validators: [...block.validators, ...publicParts([silentMember(9_999)])] };
    expect(() => verifyRoot("light-1", larger, hash)).toThrow("10001 validators, more than 10000");
  });
});

describe("the set of validators", () => {
  const withSet = (validators: LightBlock["validators"]): LightBlock => {
    const header = { ...LATER.header, validatorsHash: new Uint8Array(validatorsHash(validators)) };
    return { header, commit: commitOf(header, MEMBERS, { votes: () => 2, round: 0 }), validators };
  };
  const [first, ...rest] = publicParts(MEMBERS);
  if (first === undefined) throw new Error("there are validators");

  it.each<[string, LightBlock, string]>([
    ["is empty", { ...LATER, validators: [] }, "is empty"],
    ["lacks one", { ...LATER, validators: rest }, "another set"],
    ["has another power", { ...LATER, validators: [{ ...first, power: 11n }, ...rest] }, "another set"],
    [
      "has another key",
      { ...LATER, validators: [{ ...first, pubKey: member(9).pubKey }, ...rest] },
      "address of another key",
    ],
    ["has another order", { ...LATER, validators: publicParts(MEMBERS).toReversed() }, "another set"],
    ["has another address", withSet([{ ...first, address: member(9).address }, ...rest]), "address of another key"],
    ["has a negative power", withSet([{ ...first, power: -1n }, ...rest]), "negative power"],
    ["has too much power", withSet([{ ...first, power: 2n ** 62n }, ...rest]), "too large"],
  ])("is refused if it %s", (_, block, reason) => {
    expect(() => verifyBlock(TRUSTED, block, OPTIONS)).toThrow(reason);
  });
});

test("a root is verified by its hash and its own votes", () => {
  const hash = hashOf(NEXT.header);
  expect(() => verifyRoot("light-1", NEXT, hash)).not.toThrow();
  expect(() => verifyRoot("light-2", NEXT, hash)).toThrow('is of "light-1", and not of "light-2"');
  expect(() => verifyRoot("light-1", LATER, hash)).toThrow("block 4: the trusted block has another hash");
  const unsigned = chainOf((place) => (place < 2 ? 1 : 2)).at(2);
  expect(() => verifyRoot("light-1", unsigned, hashOf(unsigned.header))).toThrow("two thirds");
});

test("the block before a trusted one is verified by the hash that this one holds", () => {
  const [before, trusted] = [CHAIN.at(2).header, CHAIN.at(3).header];
  expect(() => verifyBackwards(trusted, before)).not.toThrow();
  expect(() => verifyBackwards(trusted, CHAIN.at(1).header)).toThrow("is not the one before block 3");
  expect(() => verifyBackwards(trusted, { ...before, appHash: bytesOf("x") })).toThrow("has not the hash");
  expect(() => verifyBackwards(trusted, { ...before, time: trusted.time })).toThrow("is not older");
  expect(() => verifyBackwards(trusted, { ...before, chainId: "light-2" })).toThrow("belongs to another chain");
});
