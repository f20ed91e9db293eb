import { EVENTS_ALONE, type Event, MESSAGE_INDEX } from "../events.ts";

/** An attribute as the log shows it. */
interface LogAttribute {
  readonly key: string;
  readonly value: string;
}

/**
 * The log of a successful transaction, one entry per message: events of one type form one entry with all attributes in
 * the order of emission, types in alphabetical order. The first entry leaves its index out, as clients expect.
 */
export function successLog(messages: readonly (readonly Event[])[]): string {
  const entries = messages.map((events, i) =>
    i === 0 ? { events: mergeByType(events) } : { msg_index: i, events: mergeByType(events) },
  );
  return escapeMarkup(JSON.stringify(entries));
}

function mergeByType(events: readonly Event[]): { readonly type: string; readonly attributes: LogAttribute[] }[] {
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
