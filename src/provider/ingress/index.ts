export { type ClientRules, CONNECTIONS_PER_ADDRESS, networkTexts, parseNetworks } from "./clients.ts";
export { ingressErrors } from "./errors.ts";
export { generatedHost } from "./hostname.ts";
export { type HostClaim, HostRegistry, type HostRules } from "./hosts.ts";
export { normalHost } from "./normal-host.ts";
export { clusterRouter, ingressRouter, type LeaseRouter } from "./router.ts";
export { Routes } from "./routes.ts";
export { Ingress, type IngressOptions } from "./server.ts";
