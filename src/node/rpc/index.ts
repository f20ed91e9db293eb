export type { RpcEnvironment } from "./method.ts";
export { DEFAULT_RPC_OPTIONS, RpcServer, type RpcServerOptions } from "./server.ts";
