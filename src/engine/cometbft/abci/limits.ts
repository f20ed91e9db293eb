/** Connections of one engine: consensus, mempool, queries and snapshots. */
export const MAX_CONNECTIONS = 4;

/** Bytes of a frame besides the transactions of a block. */
export const FRAME_ROOM = 1024 * 1024;

/** Bytes of answers that may wait for an engine before its requests are no longer read. */
export const MAX_UNREAD = 4 * 1024 * 1024;
