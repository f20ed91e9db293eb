export { RestServer, type RestServerOptions } from "./server.ts";
