export type { GatewayEvent, GatewayLogLine, LeaseStatus, OrderStatus, Screening, ServiceStatus } from "./answers.ts";
export {
  GatewayClient,
  type GatewayClientOptions,
  type LogRequest,
  type ShellRequest,
  type StreamRequest,
} from "./client.ts";
export { connectGateway } from "./connect.ts";
export { type GatewayCredential, makeToken, type TokenPurpose } from "./credential.ts";
export { GatewayRefusal, gatewayClientErrors, StreamEnd } from "./errors.ts";
export { type ShellOutput, type ShellResult, ShellSession } from "./stream/index.ts";
export { type GatewayTarget, type PublishedCertificate, publishedCertificates, type WebTarget } from "./target.ts";
