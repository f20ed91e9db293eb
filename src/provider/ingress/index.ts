export { type ClientRules, CONNECTIONS_PER_ADDRESS } from "./clients.ts";
export { tlsOrigin } from "./decide.ts";
export type { Challenges } from "./proxy/challenges.ts";
export { gatherClientParts } from "./proxy/gather.ts";
export { clusterRouter, httpOrigin, ingressRouter, type LeaseRouter } from "./router.ts";
export { Routes } from "./routes.ts";
export { Ingress, type IngressOptions, type IngressTls, PUBLIC, PUBLIC_TLS } from "./server.ts";
export { Certificates } from "./tls/certificates.ts";
export { type HostCertificate, readCertificate } from "./tls/files.ts";
