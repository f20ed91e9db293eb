export type { NodeInfo, RpcEnvironment } from "./method.ts";
export { ENGINE_VERSION } from "./methods/info.ts";
export { DEFAULT_RPC_OPTIONS, RpcServer, type RpcServerOptions } from "./server.ts";
