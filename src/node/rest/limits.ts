/** Segments of a path; no route has as many. */
export const MAX_SEGMENTS = 24;
/** Parameters of a query; repeated ones count each time. */
export const MAX_PARAMETERS = 1000;
/** Bytes of an answer in its binary form: what a gRPC server of the ecosystem sends at most. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
