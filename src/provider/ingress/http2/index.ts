export { streamExchange } from "./exchange.ts";
export { HTTP2 } from "./limits.ts";
export { Http2Session, type StreamRequest } from "./session.ts";
export { streamTunnel } from "./websocket.ts";
