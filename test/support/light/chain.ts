import { createHash } from "node:crypto";
import { consensusAddress, ed25519PublicKey, ed25519Signer } from "../../../src/crypto/index.ts";
import { hashOf, type LightBlock, type LightHeader } from "../../../src/light/index.ts";
import { toHex } from "../../../src/util/index.ts";
import {
  BLOCK_PROTOCOL,
  type BlockId,
  type Commit,
  type CommitSig,
  merkleRoot,
  NO_BLOCK_ID,
  type Validator,
  validatorsHash,
  voteSignBytes,
} from "../../../src/wire/index.ts";

export const SECOND = 1_000_000_000n;
/** Time of the first block. */
export const START = 1_790_000_000n * SECOND;
export const CHAIN_ID = "light-1";
const NO_TIME = -62_135_596_800n * SECOND;

/** A validator with its key. */
export interface Member extends Validator {
  readonly seed: Uint8Array;
}

/** The validator of a number. */
export function member(number: number, power = 10n): Member {
  const made = MADE.get(number) ?? keyOf(number);
  MADE.set(number, made);
  return { ...made, power };
}

/** Keys take a while to make. */
const MADE = new Map<number, Omit<Member, "power">>();

function keyOf(number: number): Omit<Member, "power"> {
  const seed = bytesOf(`validator ${number}`);
  const pubKey = new Uint8Array(ed25519PublicKey(seed));
  return { seed, pubKey, address: new Uint8Array(consensusAddress(pubKey)) };
}

/** A validator that never signs. */
export function silentMember(number: number, power = 1n): Member {
  const pubKey = bytesOf(`silent ${number}`);
  return { seed: new Uint8Array(), pubKey, address: new Uint8Array(consensusAddress(pubKey)), power };
}

/** In the engine's order: most power first, then by address. */
export function inOrder(members: readonly Member[]): readonly Member[] {
  return members.toSorted((a, b) =>
    a.power === b.power ? (toHex(a.address) < toHex(b.address) ? -1 : 1) : a.power > b.power ? -1 : 1,
  );
}

/** How a validator of a place votes: for the block by default. */
export type Votes = (place: number) => CommitSig["flag"];

/** Validators, votes and changes of a new block. */
export interface BlockPlan {
  readonly members: readonly Member[];
  readonly next?: readonly Member[];
  readonly votes?: Votes;
  readonly round?: number;
  /** Bytes of each piece of evidence in the block. */
  readonly evidence?: readonly Uint8Array[];
  readonly change?: (header: LightHeader) => LightHeader;
}

/** A chain of signed blocks, with changing validators. */
export class LightChain {
  readonly blocks: LightBlock[] = [];
  readonly members: (readonly Member[])[] = [];

  /** The same chain up to a height, to go on differently. */
  fork(height: number): LightChain {
    const copy = new LightChain();
    copy.blocks.push(...this.blocks.slice(0, height));
    copy.members.push(...this.members.slice(0, height));
    return copy;
  }

  add(plan: BlockPlan): LightBlock {
    const { members, next = members, votes = () => 2, round = 0, evidence = [], change = (header) => header } = plan;
    const before = this.blocks.at(-1);
    const height = BigInt(this.blocks.length + 1);
    const header = change({
      version: { block: BLOCK_PROTOCOL, app: 0n },
      chainId: CHAIN_ID,
      height,
      time: START + height * SECOND,
      lastBlockId: before?.commit.blockId ?? NO_BLOCK_ID,
      lastCommitHash: bytesOf(`commit ${height}`),
      dataHash: bytesOf(`data ${height}`),
      validatorsHash: new Uint8Array(validatorsHash(members)),
      nextValidatorsHash: new Uint8Array(validatorsHash(next)),
      consensusHash: bytesOf("params"),
      appHash: bytesOf(`app ${height}`),
      lastResultsHash: bytesOf("results"),
      evidenceHash: new Uint8Array(merkleRoot(evidence)),
      proposerAddress: members[0]?.address ?? new Uint8Array(20),
    });
    const block = { header, commit: commitOf(header, members, { votes, round }), validators: publicParts(members) };
    this.blocks.push(block);
    this.members.push(members);
    return block;
  }

  at(height: number): LightBlock {
    const block = this.blocks[height - 1];
    if (block === undefined) throw new Error(`the chain has no block ${height}`);
    return block;
  }
}

/** The votes of validators for a header. */
export function commitOf(
  header: LightHeader,
  members: readonly Member[],
  { votes, round }: { readonly votes: Votes; readonly round: number },
): Commit {
  const blockId: BlockId = { hash: new Uint8Array(hashOf(header)), parts: { total: 1, hash: bytesOf("parts") } };
  const signatures = members.map((each, place): CommitSig => {
    const flag = votes(place);
    if (flag === 1) {
      return { flag, validatorAddress: new Uint8Array(), timestamp: NO_TIME, signature: new Uint8Array() };
    }
    return vote(header, each, { flag, blockId: flag === 2 ? blockId : NO_BLOCK_ID, round });
  });
  return { height: header.height, round, blockId, signatures };
}

/** A signed vote for a block, or for none. */
export function vote(
  { chainId, height, time }: LightHeader,
  { seed, address }: Member,
  { flag, blockId, round }: { readonly flag: 2 | 3; readonly blockId: BlockId; readonly round: number },
): CommitSig {
  const timestamp = time + SECOND;
  const message = voteSignBytes({ chainId, height, round, blockId, timestamp });
  return { flag, validatorAddress: address, timestamp, signature: new Uint8Array(ed25519Signer(seed)(message)) };
}

export function publicParts(members: readonly Member[]): readonly Validator[] {
  return members.map(({ address, pubKey, power }) => ({ address, pubKey, power }));
}

export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
