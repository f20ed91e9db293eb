/** The light client: verifies headers of a chain from one that is trusted, and believes no node. */
export { hashOf, type LightBlock, type LightHeader, type SignedHeader } from "./block.ts";
export { LightClient, type LightClientOptions, type TrustRoot } from "./client.ts";
export { lightErrors } from "./errors.ts";
export type { AttackEvidence } from "./evidence.ts";
export { evidenceJson, readSignedHeader, readValidators, signedHeaderJson, validatorsJson } from "./json.ts";
export { CLOCK_DRIFT, MAX_TRUSTED_HEADERS, TRUST_PERIOD } from "./limits.ts";
export type { Source } from "./source.ts";
export { memoryStore, type TrustedStore } from "./store.ts";
export { type TrustOptions, verifyBackwards, verifyBlock, verifyRoot } from "./verify.ts";
