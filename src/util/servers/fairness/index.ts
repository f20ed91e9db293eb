/** No client keeps the others waiting for all that it asks for. */
export { type Caller, callerOf, callerOfSession } from "./caller.ts";
export { FairQueue } from "./fair-queue.ts";
export { closeIdle } from "./idle.ts";
export { refuseLate } from "./late.ts";
export { FRESH_TLS_BYTES } from "./limits.ts";
export { type HandledSocket, Reading } from "./reading.ts";
