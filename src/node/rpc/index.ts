export type { NodeInfo, RpcEnvironment } from "./method.ts";
export { BLOCK_PROTOCOL, ENGINE_VERSION, P2P_PROTOCOL } from "./methods/info.ts";
export { DEFAULT_RPC_OPTIONS, RpcServer, type RpcServerOptions } from "./server.ts";
