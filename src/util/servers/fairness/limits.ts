/** Work that what is read of clients may make in one turn of the event loop; then it is read of some connections at a time. */
export const READING_SLICE_MS = 5;
/** Connections that are read again in each turn after that. */
export const READING_AT_A_TIME = 32;
/** Of these, connections that had nothing to say in the last turn: what comes of them is read at once. */
export const QUIET_AT_A_TIME = 16;
/** Such turns in a row that make a flood. */
export const FLOOD_TURNS = 10;
/** A connection that has sent less is a newcomer: it has greeted, and may have asked its first question. */
export const FRESH_BYTES = 1024;
/** The same with TLS: keys for the time after quantum computers alone take more than a thousand. */
export const FRESH_TLS_BYTES = 4096;
/** Turns in a row that only take new connections, where each brings one, before other work goes on. */
export const ACCEPTED_IN_A_ROW = 128;
/** Turns after which what a connection has sent was read: the first may be over before it is reached. */
export const ENOUGH_TURNS = 2;
/** How often a connection is looked at again whose request seems late because it was not its turn to be read. */
export const LATE_LOOK_MS = 1_000;
