import { hashOf, type LightBlock, type LightHeader } from "../../../src/light/index.ts";
import type { Commit, CommitSig } from "../../../src/wire/index.ts";
import { merkleRoot, validatorsHash } from "../../../src/wire/index.ts";
import type { Rng } from "../rng.ts";
import { bytesOf, commitOf, type Member, member, publicParts, SECOND } from "./chain.ts";

/** A block of a chain with the validators that signed it. */
export interface Signed {
  readonly block: LightBlock;
  readonly members: readonly Member[];
}

type Change = (block: LightBlock, rng: Rng, members: readonly Member[]) => LightBlock;

/** One of some values. */
export function pick<T>(rng: Rng, values: readonly T[]): T {
  const value = values[rng.below(values.length)];
  if (value === undefined) throw new Error("there is nothing to pick from");
  return value;
}

/** A block that is wrong in a way, or good; with `resign` all validators sign the change. */
export function mutated({ block, members }: Signed, rng: Rng): LightBlock {
  const changed = pick(rng, CHANGES)(block, rng, members);
  return rng.below(2) === 0 ? changed : resigned(changed, members);
}

function resigned(block: LightBlock, members: readonly Member[]): LightBlock {
  return { ...block, commit: commitOf(block.header, members, { votes: () => 2, round: block.commit.round }) };
}

const HASHES = [
  "lastCommitHash",
  "dataHash",
  "validatorsHash",
  "nextValidatorsHash",
  "consensusHash",
  "appHash",
  "lastResultsHash",
  "evidenceHash",
] as const;

const inHeader =
  (change: (header: LightHeader, rng: Rng) => Partial<LightHeader>): Change =>
  (block, rng) => ({ ...block, header: { ...block.header, ...change(block.header, rng) } });

const inCommit =
  (change: (commit: Commit, rng: Rng) => Partial<Commit>): Change =>
  (block, rng) => ({ ...block, commit: { ...block.commit, ...change(block.commit, rng) } });

const inVote =
  (change: (sig: CommitSig, rng: Rng, commit: Commit) => CommitSig): Change =>
  (block, rng) => {
    const at = rng.below(block.commit.signatures.length);
    const signatures = block.commit.signatures.map((sig, i) => (i === at ? change(sig, rng, block.commit) : sig));
    return { ...block, commit: { ...block.commit, signatures } };
  };

/** Validators of a block changed, in the header too where it is to look right. */
const inSet =
  (change: (set: LightBlock["validators"], rng: Rng) => LightBlock["validators"]): Change =>
  (block, rng) => {
    const validators = change(block.validators, rng);
    if (rng.below(2) === 0) return { ...block, validators };
    const header = { ...block.header, validatorsHash: new Uint8Array(validatorsHash(validators)) };
    const commit = { ...block.commit, blockId: { ...block.commit.blockId, hash: new Uint8Array(hashOf(header)) } };
    return { header, commit, validators };
  };

const CHANGES: readonly Change[] = [
  (block) => block,
  (block, _, members) => resigned(block, members.toReversed()),
  inHeader((_, rng) => ({ [pick(rng, HASHES)]: pick(rng, [bytesOf("x"), new Uint8Array(), new Uint8Array(31)]) })),
  inHeader((_, rng) => ({ evidenceHash: new Uint8Array(merkleRoot(pick(rng, [[], [bytesOf("another")]]))) })),
  inHeader(({ height }, rng) => ({ height: height + pick(rng, [-2n, -1n, 1n, 2n]) })),
  inHeader(({ time }, rng) => ({ time: time + pick(rng, [-5n, -1n, 1n, 5n, 1000n]) * SECOND })),
  inHeader(() => ({ chainId: "light-2" })),
  inHeader(() => ({ chainId: "l".repeat(51) })),
  inHeader((_, rng) => ({ version: { block: pick(rng, [10n, 11n, 12n]), app: pick(rng, [0n, 1n]) } })),
  inHeader(({ lastBlockId }) => ({ lastBlockId: { ...lastBlockId, hash: bytesOf("x") } })),
  inHeader((_, rng) => ({ proposerAddress: bytesOf("x").subarray(0, pick(rng, [0, 19, 20, 21])) })),
  inCommit(({ height }) => ({ height: height + 1n })),
  inCommit(({ round }) => ({ round: round + 1 })),
  inCommit(({ blockId }) => ({ blockId: { ...blockId, parts: { total: 7, hash: bytesOf("x") } } })),
  inCommit(({ blockId }) => ({ blockId: { ...blockId, hash: bytesOf("x") } })),
  inCommit(({ signatures }) => ({ signatures: signatures.slice(1) })),
  inCommit(({ signatures }) => ({ signatures: [...signatures, ...signatures.slice(0, 1)] })),
  inCommit(({ signatures }) => ({ signatures: signatures.toReversed() })),
  inCommit(() => ({ signatures: [] })),
  inVote((sig, rng) => ({ ...sig, signature: sig.signature.map((byte) => byte ^ (1 << rng.below(8))) })),
  inVote((sig, rng) => ({ ...sig, timestamp: sig.timestamp + pick(rng, [-1n, 1n, SECOND]) })),
  inVote((sig, rng) => ({ ...sig, flag: pick(rng, [1, 2, 3]) })),
  inVote((sig, rng) => ({ ...sig, validatorAddress: pick(rng, [member(rng.below(9)).address, new Uint8Array(19)]) })),
  inVote((_, rng, { signatures }) => pick(rng, signatures)),
  inVote((sig, rng) => ({ ...sig, signature: new Uint8Array(pick(rng, [0, 63, 64, 65])) })),
  inSet((set) => set.slice(1)),
  inSet((set) => set.toReversed()),
  inSet((set, rng) => [...publicParts([member(rng.below(9))]), ...set.slice(1)]),
  inSet((set, rng) => set.map((each) => ({ ...each, power: each.power + pick(rng, [-20n, 0n, 1n, 2n ** 61n]) }))),
  inSet((set) => set.map((each) => ({ ...each, address: new Uint8Array(20) }))),
];
