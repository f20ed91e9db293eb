/** Headers, commits and validators of a chain with their hashes, and the bytes that validators sign. */
export * from "./encoding.ts";
export { type MerkleProof, merkleProof, merkleRoot, merkleRootOfProof } from "./merkle.ts";
export * from "./types.ts";
