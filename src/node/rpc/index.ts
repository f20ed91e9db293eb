export type { RpcEnvironment } from "./calls/method.ts";
export { RpcServer, type RpcServerOptions } from "./server.ts";
