import { Reading } from "../../util/index.ts";
import { ByteBudget } from "./byte-budget.ts";
import { MAX_SENT_BYTES, MAX_UNREAD_BYTES } from "./limits.ts";
import { Turns } from "./turns.ts";

/** What all servers of a node share: the memory for what clients read and send, the turns of calls, and of connections. */
export interface ClientBudget {
  /** Answers that wait to be read. */
  readonly unread: ByteBudget;
  /** Requests that come little by little, until they are answered. */
  readonly sent: ByteBudget;
  readonly turns: Turns;
  readonly reading: Reading;
}

export function clientBudget(): ClientBudget {
  const reading = new Reading();
  return {
    unread: new ByteBudget(MAX_UNREAD_BYTES),
    sent: new ByteBudget(MAX_SENT_BYTES),
    turns: new Turns({ reading }),
    reading,
  };
}
