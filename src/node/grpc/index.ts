export { GrpcServer, type GrpcServerOptions } from "./server.ts";
