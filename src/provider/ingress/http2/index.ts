export { streamExchange } from "./exchange.ts";
export { HTTP2, Http2Session, type StreamRequest } from "./session.ts";
export { streamTunnel } from "./websocket.ts";
