/** Verifies proofs of the contents of an application's store (ICS 23). */
export { verifyAbsence } from "./absence.ts";
export { existenceRoot, type Proven, verifyExistence } from "./existence.ts";
export { IAVL_SPEC, type ProofSpec, SMT_SPEC, TENDERMINT_SPEC } from "./specs.ts";
export { type ProofOp, rootOfProof, type StoreClaim, verifyStoreProof } from "./store-proof.ts";
