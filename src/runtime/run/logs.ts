import { append } from "../../util/index.ts";
import type { Event, EventAttribute } from "../events.ts";

/** A stored, searchable event; `index` tells the engine to make the attribute searchable. */
export interface StoredEvent {
  readonly type: string;
  readonly attributes: readonly StoredAttribute[];
}

export interface StoredAttribute extends EventAttribute {
  readonly index: boolean;
}

/**
 * Events that the ecosystem added after logs went out of use: a result has them among its events and not in its log.
 * Only sender and receiver of a message's events are searchable; the rest can be found by `transfer`, and would be a
 * fifth of the index.
 */
const EVENTS_ALONE: ReadonlySet<string> = new Set(["coin_spent", "coin_received"]);

/** Events of the ante checks and of block items. */
export function storedEvents(events: readonly Event[]): StoredEvent[] {
  return events.map(({ type, attributes }) => ({ type, attributes: marked(attributes, !EVENTS_ALONE.has(type)) }));
}

/**
 * Events of the message at `index`: each says so in a last attribute `msg_index`. The first, which has the action,
 * names the message by its type URLs too, because newer tools search for that.
 */
export function storedMessageEvents(
  events: readonly Event[],
  index: number,
  typeUrls: readonly string[],
): StoredEvent[] {
  const mark = { key: "msg_index", value: index.toString() };
  const urls = typeUrls.map((value) => ({ key: "action", value, index: true }));
  return events.map(({ type, attributes }, i) => ({
    type,
    attributes: EVENTS_ALONE.has(type)
      ? [...attributes, mark].map(({ key, value }) => ({ key, value, index: key === "spender" || key === "receiver" }))
      : [...marked(attributes, true), ...(i === 0 ? urls : []), { ...mark, index: true }],
  }));
}

function marked(attributes: readonly EventAttribute[], index: boolean): StoredAttribute[] {
  return attributes.map(({ key, value }) => ({ key, value, index }));
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

function mergeByType(events: readonly Event[]): Event[] {
  const merged = new Map<string, EventAttribute[]>();
  for (const { type, attributes } of events) {
    if (EVENTS_ALONE.has(type)) continue;
    const known = merged.get(type);
    if (known === undefined) merged.set(type, attributes.map(plain));
    else append(known, attributes.map(plain));
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, attributes]) => ({ type, attributes }));
}

function plain({ key, value }: EventAttribute): EventAttribute {
  return { key, value };
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
