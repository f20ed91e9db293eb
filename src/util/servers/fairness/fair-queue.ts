import type { Caller } from "./caller.ts";

/** What waits of one client, by connection. */
type Lines<T> = Map<object, T[]>;

/**
 * What waits for its turn, in this order: one of each client, and of one client one of each connection. A client with hundreds of
 * connections, or a connection with a hundred calls, keeps nobody waiting for all of them.
 */
export class FairQueue<T> {
  /** In the order of their next turns. */
  #clients = new Map<string, Lines<T>>();

  get isEmpty(): boolean {
    return this.#clients.size === 0;
  }

  push({ client, connection }: Caller, item: T): void {
    const lines = this.#clients.get(client);
    if (lines === undefined) this.#clients.set(client, new Map([[connection, [item]]]));
    else add(lines, connection, [item]);
  }

  /** Takes the first; the rest of its connection goes behind the others of its client, and its client behind the others. */
  shift(): T | undefined {
    for (const [client, lines] of this.#clients) {
      const taken = takeFirst(lines);
      this.#clients.delete(client);
      if (lines.size > 0) this.#clients.set(client, lines);
      if (taken !== undefined) return taken.item;
    }
    return undefined;
  }

  /** Forgets what waits of a connection. */
  remove({ client, connection }: Caller): void {
    const lines = this.#clients.get(client);
    if (lines?.delete(connection) === true && lines.size === 0) this.#clients.delete(client);
  }

  /** Puts back what was taken and did not get its turn, before all others. */
  putBack(items: readonly (readonly [Caller, T])[]): void {
    const rest = this.#clients;
    this.#clients = new Map();
    for (const [caller, item] of items) this.push(caller, item);
    for (const [client, lines] of rest) {
      const before = this.#clients.get(client);
      if (before === undefined) this.#clients.set(client, lines);
      else for (const [connection, waiting] of lines) add(before, connection, waiting);
    }
  }
}

function add<T>(lines: Lines<T>, connection: object, items: readonly T[]): void {
  const waiting = lines.get(connection);
  if (waiting === undefined) lines.set(connection, [...items]);
  else for (const item of items) waiting.push(item);
}

function takeFirst<T>(lines: Lines<T>): { readonly item: T } | undefined {
  for (const [connection, waiting] of lines) {
    const [item] = waiting.splice(0, 1);
    lines.delete(connection);
    if (waiting.length > 0) lines.set(connection, waiting);
    if (item !== undefined) return { item };
  }
  return undefined;
}
