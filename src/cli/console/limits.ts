/** Limits of `svc console`; sizes in bytes, times in milliseconds. */

/** Connections of browsers. */
export const MAX_CONNECTIONS = 128;
/** Body of a request to a node: as much as nodes take. */
export const MAX_NODE_BODY = 1_000_000;
/** Body of a request to a gateway: as much as gateways take. */
export const MAX_GATEWAY_BODY = 1 << 20;
/** Answer of a node: more than any of a node of ours. */
export const MAX_NODE_ANSWER = 64 << 20;
/** Answer of a gateway: as much as the client of the command line reads. */
export const MAX_GATEWAY_ANSWER = 4 << 20;
/** Time for the whole answer of a node. */
export const NODE_TIMEOUT_MS = 60_000;
/** Time for the whole answer of a gateway to a request that changes something, which may take long with a manifest. */
export const GATEWAY_TIMEOUT_MS = 120_000;
/** The same for reading: a browser has six connections to this origin, and silent gateways must not hold them all for long. */
export const GATEWAY_READ_TIMEOUT_MS = 15_000;
/** Time within which a gateway or a node must have accepted a connection. */
export const CONNECT_TIMEOUT_MS = 15_000;
/** Time within which the headers of a request, and the whole of it, must have arrived. */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 30_000;

/** Questions that wait for an answer at the terminal. */
export const MAX_QUESTIONS = 8;
/** Connections to the page of questions, and bytes of an answer that it takes. */
export const MAX_CONFIRM_CONNECTIONS = 16;
export const MAX_ANSWER_BODY = 1024;
/** Characters of the code by which a question is answered there. */
export const CODE_LENGTH = 6;
/** Body of a call that the command itself answers, such as a request for a signature. */
export const MAX_CALL_BODY = 256 * 1024;
/** Latest orders of a provider that its operator's page gets. */
export const MAX_ORDERS = 200;
/** Characters of a text that a person is asked to read. */
export const MAX_SIGN_TEXT = 64 * 1024;
