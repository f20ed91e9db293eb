import { ENOUGH_TURNS, LATE_LOOK_MS } from "./limits.ts";
import type { HandledSocket, Reading } from "./reading.ts";

export interface LateRequest {
  readonly socket: HandledSocket;
  readonly reading: Pick<Reading, "isWaiting" | "turnsOf">;
  /** Whether the request has come after all, or the connection has ended. */
  readonly isOver: () => boolean;
  /** Refuses the request. */
  readonly refuse: () => void;
}

/**
 * Refuses a request that has not come in time. What a client has sent while others were read is not late: where its connection waits
 * to be read, its turns are waited for.
 */
export function refuseLate({ socket, reading, isOver, refuse }: LateRequest): void {
  const enough = reading.turnsOf(socket) + ENOUGH_TURNS;
  const look = (): void => {
    if (isOver()) return;
    const wasRead = !reading.isWaiting(socket) || reading.turnsOf(socket) >= enough;
    // The last turn may have begun just now.
    if (wasRead) setImmediate(() => isOver() || refuse());
    else setTimeout(look, LATE_LOOK_MS);
  };
  if (reading.isWaiting(socket)) setTimeout(look, LATE_LOOK_MS);
  else refuse();
}
