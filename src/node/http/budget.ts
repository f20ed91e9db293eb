import { ByteBudget } from "./byte-budget.ts";
import { type ClientLimits, Clients } from "./clients.ts";
import { MAX_SENT_BYTES, MAX_UNREAD_BYTES } from "./limits.ts";

/** Limits that all servers of a node share. */
export interface ClientBudget {
  /** Answers that wait to be read. */
  readonly unread: ByteBudget;
  /** Requests that come little by little, until they are answered. */
  readonly sent: ByteBudget;
  readonly clients: Clients;
}

export function clientBudget(limits?: ClientLimits): ClientBudget {
  return {
    unread: new ByteBudget(MAX_UNREAD_BYTES),
    sent: new ByteBudget(MAX_SENT_BYTES),
    clients: new Clients(limits),
  };
}
