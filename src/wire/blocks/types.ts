/** Times are nanoseconds since 1970, UTC; heights, powers and times are bigint. */

/** Identifies a block: the hash of its header and the Merkle root of its parts. */
export interface BlockId {
  /** 32 bytes; empty in the first block's reference to its predecessor. */
  readonly hash: Uint8Array;
  readonly parts: PartSetHeader;
}

/** Number and Merkle root of the parts in which a block is sent. */
export interface PartSetHeader {
  readonly total: number;
  readonly hash: Uint8Array;
}

/** Versions of the block format and of the application. */
export interface BlockVersion {
  readonly block: bigint;
  readonly app: bigint;
}

/** Header of a block. Hashes have 32 bytes. */
export interface Header {
  readonly chainId: string;
  readonly height: bigint;
  readonly time: bigint;
  readonly lastBlockId: BlockId;
  readonly lastCommitHash: Uint8Array;
  readonly dataHash: Uint8Array;
  readonly validatorsHash: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
  readonly consensusHash: Uint8Array;
  /** The application's hash after the block before. */
  readonly appHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
  readonly evidenceHash: Uint8Array;
  /** 20 bytes. */
  readonly proposerAddress: Uint8Array;
}

/** How a validator voted: 1 absent, 2 for the block, 3 for no block. */
export type BlockIdFlag = 1 | 2 | 3;

/** A validator's vote in a commit. */
export interface CommitSig {
  readonly flag: BlockIdFlag;
  readonly validatorAddress: Uint8Array;
  readonly timestamp: bigint;
  readonly signature: Uint8Array;
}

/** The votes that made a block final. */
export interface Commit {
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly signatures: readonly CommitSig[];
}

/** A member of the set that votes on blocks. */
export interface Validator {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** ed25519, 32 bytes. */
  readonly pubKey: Uint8Array;
  readonly power: bigint;
}

/** The first block's reference to its predecessor. */
export const NO_BLOCK_ID: BlockId = { hash: new Uint8Array(), parts: { total: 0, hash: new Uint8Array() } };

/** Version of the block format, part of every header. */
export const BLOCK_PROTOCOL = 11n;
