/** Segments of a path; no route has as many. */
export const MAX_SEGMENTS = 24;
/** Parameters of a query; repeated ones count each time. */
export const MAX_PARAMETERS = 1000;
/** Bytes of an answer in its binary form: the maximum of the ecosystem's gRPC servers. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
