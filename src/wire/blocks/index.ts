/** Headers, commits and validators of a chain with their hashes, and the bytes that validators sign. */
export { commitHash, headerHash, validatorsHash } from "./hashes.ts";
export { type MerkleProof, merkleProof, merkleRoot, merkleRootOfProof } from "./merkle.ts";
export { blockIdMessage, commitSigMessage, timeOf, timestampOf } from "./messages.ts";
export {
  BLOCK_PROTOCOL,
  type BlockId,
  type BlockIdFlag,
  type BlockVersion,
  type Commit,
  type CommitSig,
  type Header,
  NO_BLOCK_ID,
  type PartSetHeader,
  type Validator,
} from "./types.ts";
export { type Precommit, voteSignBytes } from "./vote.ts";
