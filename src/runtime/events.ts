import { append } from "../util/index.ts";

/** An event in emission order; attribute values are plain text. */
export interface Event {
  readonly type: string;
  readonly attributes: readonly EventAttribute[];
}

export interface EventAttribute {
  readonly key: string;
  readonly value: string;
}

/** Collects the events of one transaction, message or block phase. */
export class EventSink {
  #events: Event[] = [];

  /** `emit("transfer", { recipient, sender, amount })`: attributes keep the order written. */
  emit(type: string, attributes: Readonly<Record<string, string>>): void {
    this.#events.push({ type, attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })) });
  }

  append(events: readonly Event[]): void {
    append(this.#events, events);
  }

  all(): readonly Event[] {
    return this.#events;
  }

  /** Number of events so far, for `dropAfter`. */
  mark(): number {
    return this.#events.length;
  }

  /** Removes the events after a mark: events of a failed message never reach the result. */
  dropAfter(mark: number): void {
    this.#events.length = mark;
  }
}
