/** Open calls per connection. */
export const MAX_STREAMS = 100;
/** Bytes of the headers of a call; clients of gRPC send no more unless they are told to. */
export const MAX_HEADER_BYTES = 8 * 1024;
/** Bytes of an answer; as much as servers of the ecosystem send. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
/** Time after which a call is ended, whichever side is slow. */
export const CALL_TIMEOUT_MS = 60_000;
/** Time between two looks for calls that take longer. */
export const SWEEP_EVERY_MS = 5_000;
/** Open calls of all connections together. */
export const MAX_OPEN_CALLS = 4_000;
/** Open calls with streams in both directions. */
export const MAX_CONVERSATIONS = 100;
/** Calls of one connection that are ended to make room, before the connection is. */
export const MAX_ENDED_CALLS = 10;
/** Calls that the client of one connection may cancel before they begin, besides as many as it lets finish. */
export const MAX_TAKEN_BACK = 100;
/** Parts in which a message may arrive; clients send parts of 16 KiB. */
export const MAX_PARTS = 4_096;
/** Time for which a connection without calls stays open. */
export const IDLE_MS = 300_000;
/** Time within which the client of an idle connection must close it when the node has. */
export const CLOSE_MS = 5_000;
/** Time within which a connection must have shown its protocol. */
export const GREETING_MS = 10_000;
/** Memory per connection for waiting headers and frames, in megabytes. */
export const MAX_SESSION_MEGABYTES = 4;
/** Clients that wait for changes of health at a time. */
export const MAX_WATCHERS = 100;
