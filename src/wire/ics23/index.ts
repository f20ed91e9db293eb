/** Verifies proofs of what a store of an application holds (ICS 23). */
export { verifyAbsence } from "./absence.ts";
export { existenceRoot, type Proven, verifyExistence } from "./existence.ts";
export { IAVL_SPEC, type ProofSpec, SMT_SPEC, TENDERMINT_SPEC } from "./specs.ts";
export { type ProofOp, rootOfProof, type StoreClaim, verifyStoreProof } from "./store-proof.ts";
