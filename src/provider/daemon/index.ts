export type { IngressConfig, ProviderConfig } from "./config.ts";
export { type GatewayIdentity, type ProviderRequest, type RunningProvider, runProvider } from "./run.ts";
