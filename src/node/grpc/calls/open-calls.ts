import type { Http2Session } from "node:http2";
import { CALL_TIMEOUT_MS, MAX_ENDED_CALLS, MAX_OPEN_CALLS, SWEEP_EVERY_MS } from "../limits.ts";
import { type AnswerStream, endAnswer, networkOf } from "./reader.ts";

/** The calls of one client in order of arrival, with the time at which each is ended. */
type Calls = Map<AnswerStream, number>;

/**
 * Open calls of all connections. If there are too many, the client with the most calls loses its oldest one: most calls
 * end soon, and long ones must not keep others out.
 */
export class OpenCalls {
  readonly #clients = new Map<string, Calls>();
  #count = 0;
  /** How many calls of a session were ended to make room. */
  readonly #ended = new WeakMap<Http2Session, number>();
  readonly #sweep = setInterval(() => this.#endLate(), SWEEP_EVERY_MS).unref();

  /** Counts a call until it is answered. One that `lasts` may take as long as its client wants. */
  begin(stream: AnswerStream, lasts: boolean): void {
    const client = networkOf(stream);
    if (this.#count >= MAX_OPEN_CALLS) this.#makeRoom(client);
    const calls = this.#clients.get(client) ?? new Map();
    this.#clients.set(client, calls);
    calls.set(stream, lasts ? Number.POSITIVE_INFINITY : performance.now() + CALL_TIMEOUT_MS);
    this.#count += 1;
    stream.once("close", () => this.#remove(client, stream));
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  /** A session that fills the room again and again is ended as a whole: call by call would keep others waiting. */
  #makeRoom(newcomer: string): void {
    const client = this.#most(newcomer);
    const [longest] = this.#clients.get(client)?.keys() ?? [];
    if (longest === undefined) return;
    this.#end(client, longest);
    const session = "session" in longest ? longest.session : undefined;
    if (session === undefined) return;
    const ended = (this.#ended.get(session) ?? 0) + 1;
    this.#ended.set(session, ended);
    if (ended > MAX_ENDED_CALLS) session.destroy();
  }

  /** The client with the most calls; the newcomer on a tie. */
  #most(newcomer: string): string {
    const has = (client: string) => this.#clients.get(client)?.size ?? 0;
    let most = newcomer;
    for (const client of this.#clients.keys()) if (has(client) > has(most)) most = client;
    return most;
  }

  #endLate(): void {
    const now = performance.now();
    for (const [client, calls] of this.#clients)
      for (const [stream, end] of calls) if (end <= now) this.#end(client, stream);
  }

  #end(client: string, stream: AnswerStream): void {
    this.#remove(client, stream);
    endAnswer(stream);
  }

  #remove(client: string, stream: AnswerStream): void {
    const calls = this.#clients.get(client);
    if (calls?.delete(stream) !== true) return;
    this.#count -= 1;
    if (calls.size === 0) this.#clients.delete(client);
  }
}
