/** Work that what is read of clients may make in one turn of the event loop; then it is read of some connections at a time. */
export const READING_SLICE_MS = 5;
/** Connections that are read again in each turn after that. */
export const READING_AT_A_TIME = 32;
/** Such turns in a row that make a flood. */
export const FLOOD_TURNS = 10;
/** A connection that has sent less is a newcomer: it has greeted, and may have asked its first question. */
export const FRESH_BYTES = 1024;
/** The same with TLS: keys for the time after quantum computers alone take more than a thousand. */
export const FRESH_TLS_BYTES = 4096;
/** Turns in a row that only take new connections, where each brings one, before other work goes on. */
export const ACCEPTED_IN_A_ROW = 128;
