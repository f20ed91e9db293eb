export { StatusServer, type StatusServerOptions } from "./server.ts";
