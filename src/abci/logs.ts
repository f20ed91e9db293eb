import type { AppEvent, TxResult } from "./results.ts";

/**
 * Events that the ecosystem added after logs went out of use: a result has them among its events and not in its log.
 * Only sender and receiver of a message's events are searchable; the rest can be found by `transfer`, and would be a
 * fifth of the index.
 */
export const EVENTS_ALONE: ReadonlySet<string> = new Set(["coin_spent", "coin_received"]);

/** Key of the last attribute of a message's events: the number of the message in the transaction. */
export const MESSAGE_INDEX = "msg_index";

/** Type URLs of the marketplace's messages. */
const MARKETPLACE = "/svc.";

/** An attribute as the log shows it. */
interface LogAttribute {
  readonly key: string;
  readonly value: string;
}

/**
 * The log of a transaction, made from its events if the result does not bring it; empty without events of messages, as
 * in the results of a snapshot.
 */
export function logOf({ log, events }: Pick<TxResult, "log" | "events">): string {
  if (log !== undefined) return log;
  const messages = byMessage(events);
  return messages.length === 0 ? "" : successLog(messages);
}

/**
 * The events of each message. The fee's transfer, which is not part of a message, belongs to the first one when that
 * is one of the marketplace.
 */
function byMessage(events: readonly AppEvent[]): (readonly AppEvent[])[] {
  const messages = new Map<string, AppEvent[]>();
  const fee: AppEvent[] = [];
  for (const event of events) {
    const mark = event.attributes.at(-1);
    if (mark?.key === MESSAGE_INDEX) listed(messages, mark.value).push(event);
    else if (event.type === "transfer" || event.type === "message") fee.push(event);
  }
  const [first = [], ...rest] = messages.values();
  const [action, ...own] = first;
  if (action === undefined) return [];
  return [isOfMarketplace(action) ? [action, ...fee, ...own] : first, ...rest];
}

function listed(messages: Map<string, AppEvent[]>, index: string): AppEvent[] {
  const known = messages.get(index);
  if (known !== undefined) return known;
  const made: AppEvent[] = [];
  messages.set(index, made);
  return made;
}

function isOfMarketplace({ attributes }: AppEvent): boolean {
  return attributes.some(({ key, value }) => key === "action" && value.startsWith(MARKETPLACE));
}

/**
 * The log of a successful transaction, one entry per message: events of one type form one entry with all attributes in
 * the order of emission, types in alphabetical order. The first entry leaves its index out, as clients expect.
 */
function successLog(messages: readonly (readonly AppEvent[])[]): string {
  const entries = messages.map((events, i) =>
    i === 0 ? { events: mergeByType(events) } : { msg_index: i, events: mergeByType(events) },
  );
  return escapeMarkup(JSON.stringify(entries));
}

function mergeByType(events: readonly AppEvent[]): { readonly type: string; readonly attributes: LogAttribute[] }[] {
  const merged = new Map<string, LogAttribute[]>();
  for (const [i, { type, attributes }] of events.entries()) {
    if (EVENTS_ALONE.has(type)) continue;
    const shown = merged.get(type) ?? [];
    merged.set(type, shown);
    for (const { key, value } of attributes) {
      if (key !== MESSAGE_INDEX) shown.push({ key, value });
      // The first event names the action, and its type URLs too, which are not part of the log.
      if (i === 0) break;
    }
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, attributes]) => ({ type, attributes }));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** The ecosystem's logs are JSON that can be embedded in a web page. */
function escapeMarkup(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => ESCAPES[char] ?? char);
}
