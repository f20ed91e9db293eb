import { Turns } from "./turns.ts";
import { UnreadBytes } from "./unread.ts";

/** What all servers of a node share: the memory for answers that wait to be read, and the turns of calls. */
export interface ClientBudget {
  readonly unread: UnreadBytes;
  readonly turns: Turns;
}

export function clientBudget(): ClientBudget {
  return { unread: new UnreadBytes(), turns: new Turns() };
}
