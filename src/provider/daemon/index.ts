export type { IngressConfig, ProviderConfig } from "./config.ts";
export { makeRoom } from "./disk.ts";
export { knownChain } from "./genesis.ts";
export type { GatewayIdentity, ProviderRequest } from "./request.ts";
export { type RunningProvider, runProvider } from "./run.ts";
