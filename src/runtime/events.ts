import { type AppEvent, EVENTS_ALONE, MESSAGE_INDEX } from "../abci/index.ts";
import { append } from "../util/index.ts";

/** An event in emission order; attribute values are plain text. */
export type Event = AppEvent;

type EventAttribute = Event["attributes"][number];

/** An attribute at the end of every event of a sink. */
export interface EventMark {
  readonly key: string;
  readonly value: string;
}

const NO_MARKS: readonly EventMark[] = [];

/** The mark of the events of a message: its index in the transaction. */
export function messageMark(index: number): EventMark {
  return { key: MESSAGE_INDEX, value: index.toString() };
}

/** Collects the events of one transaction, message or block phase, in the form in which a result has them. */
export class EventSink {
  readonly #events: Event[] = [];
  readonly #marks: readonly EventMark[];
  readonly #isOfMessage: boolean;

  constructor(marks: readonly EventMark[] = NO_MARKS) {
    this.#marks = marks;
    this.#isOfMessage = marks.some(({ key }) => key === MESSAGE_INDEX);
  }

  /** `emit("transfer", { recipient, sender, amount })`: attributes keep the order written. */
  emit(type: string, attributes: Readonly<Record<string, string>>): void {
    const isAlone = EVENTS_ALONE.has(type);
    const all: EventAttribute[] = [];
    for (const key in attributes) {
      const index = !isAlone || (this.#isOfMessage && (key === "spender" || key === "receiver"));
      all.push({ key, value: attributes[key] ?? "", index });
    }
    this.#add(type, all, !isAlone);
  }

  /** The event with which the events of a message begin. */
  emitActions(actions: readonly string[]): void {
    this.#add(
      "message",
      actions.map((value) => ({ key: "action", value, index: true })),
      true,
    );
  }

  #add(type: string, attributes: EventAttribute[], index: boolean): void {
    for (const { key, value } of this.#marks) attributes.push({ key, value, index });
    this.#events.push({ type, attributes });
  }

  append(events: readonly Event[]): void {
    append(this.#events, events);
  }

  all(): readonly Event[] {
    return this.#events;
  }

  /** A sink for a part of the work, whose events have a mark before this sink's. */
  branch(mark?: EventMark): EventSink {
    return new EventSink(mark === undefined ? this.#marks : [mark, ...this.#marks]);
  }
}
