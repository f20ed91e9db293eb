export { cutOff, encodingRefusal, readBody } from "./body.ts";
export { type ClientBudget, clientBudget } from "./budget.ts";
export { corsHeaders, type GuardOptions, isLoopback, PREFLIGHT_HEADERS, refusal } from "./guard.ts";
export { READ_WITHIN_MS } from "./limits.ts";
export { RequestLines } from "./lines.ts";
export { closeServer, limitServer, listenAt, urlHost } from "./listen.ts";
export { holdAnswer, type ReadLimits, sendEmpty, sendText } from "./send.ts";
export { Turns } from "./turns.ts";
export { UnreadBytes } from "./unread.ts";
