import type { ServerSessionOptions } from "node:http2";
import type { Rate } from "../allowance.ts";

/** HTTP/2 as one client gets it; milliseconds and bytes. */
export const HTTP2 = {
  /** Requests at once over one connection; those of an address together are limited as its connections are. */
  streams: 100,
  /** Requests over one connection, as over one of HTTP/1; then the client connects again. */
  requests: 1_000,
  headerBytes: 16 << 10,
  headerPairs: 128,
  /** A new connection has this long for its first request. */
  firstRequest: 10_000,
  /** Without a request a connection is kept this long, whatever else the client sends. */
  idleConnection: 60_000,
  /** A request whose body takes longer is broken off. */
  request: 300_000,
  /** No byte of a request in either direction. */
  idleRequest: 75_000,
  /**
   * What makes work and asks for nothing: requests taken back, pings and settings. A reader who leaves a page takes all
   * of its requests back.
   */
  nuisances: { burst: 200, perSecond: 10 } as Rate,
} as const;

/** Megabytes that the library may hold for a connection, besides bodies that wait for a replica. */
const SESSION_MEMORY = 2;
/** Frames against the protocol, and requests over the limit, after which the library ends a connection. */
const MAX_FAULTS = 100;

/** `enableConnectProtocol`: websockets over streams (RFC 8441). */
export const SESSION_OPTIONS: ServerSessionOptions = {
  maxSessionMemory: SESSION_MEMORY,
  maxSessionInvalidFrames: MAX_FAULTS,
  maxSessionRejectedStreams: MAX_FAULTS,
  maxHeaderListPairs: HTTP2.headerPairs,
  maxOutstandingPings: 1,
  maxSettings: 16,
  settings: {
    enablePush: false,
    maxConcurrentStreams: HTTP2.streams,
    maxHeaderListSize: HTTP2.headerBytes,
    enableConnectProtocol: true,
  },
};
