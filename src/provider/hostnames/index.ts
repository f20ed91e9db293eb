/** Host names of tenants: who owns which name, and how an account proves it. */
export { ingressErrors } from "./errors.ts";
export { accountHost, generatedHost } from "./generated.ts";
export { HostLedger } from "./ledger.ts";
export { HOST_LIMITS } from "./limits.ts";
export { normalHost } from "./normal-host.ts";
export { type HostnameConfig, openHostnames } from "./open.ts";
export { HostOwnership } from "./ownership.ts";
export { CHALLENGE_LABEL, dnsProver, type HostProver, type Lookups, type Proof, resolverLookups } from "./proof.ts";
export { type HostClaim, type HostMemory, HostRegistry, type HostRules } from "./registry.ts";
