export type { IngressConfig, ProviderConfig, TlsConfig } from "./config.ts";
export { makeRoom } from "./disk.ts";
export { browserGateway, ingressTls } from "./ingress.ts";
export type { GatewayIdentity, ProviderRequest } from "./request.ts";
export { type RunningProvider, runProvider } from "./run.ts";
export { knownChain } from "./start/genesis.ts";
