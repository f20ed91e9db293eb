export type { RpcEnvironment } from "./method.ts";
export { RpcServer, type RpcServerOptions } from "./server.ts";
