export {
  CountedRequest,
  closeServer,
  type Handler,
  listenAt,
  RequestLines,
  refuseUpgrade,
  type TakeWebsocket,
  takeUpgrades,
  urlHost,
} from "../../util/servers/index.ts";
export { type BodyLimits, encodingRefusal, ownBytes, readBody } from "./body.ts";
export { ByteBudget, type HeldBytes } from "./byte-budget.ts";
export { type ClientBudget, type ClientLimits, Clients, clientBudget, limitReads, limitServer } from "./clients.ts";
export { corsHeaders, type GuardOptions, isLoopback, PREFLIGHT_HEADERS, refusal, type ServerOptions } from "./guard.ts";
export { MAX_UNREAD_BYTES, PART_BYTES, READ_WITHIN_MS } from "./limits.ts";
export { nextTurn, type ReadLimits, sendEmpty, sendHeld, sendText, sendTooLarge } from "./send.ts";
