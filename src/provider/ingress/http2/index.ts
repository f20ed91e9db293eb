export { streamExchange, streamTunnel } from "./exchange.ts";
export { HTTP2, Http2Session, type StreamRequest } from "./session.ts";
