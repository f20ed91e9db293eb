import type { Http2Session } from "node:http2";
import { CALL_TIMEOUT_MS, MAX_ENDED_CALLS, MAX_OPEN_CALLS, SWEEP_EVERY_MS } from "../limits.ts";
import { type AnyResponse, endResponse } from "./reader.ts";

/**
 * The calls that are under way, of all connections. Where there are too many, the one that has been under way longest is
 * ended: others are done soon, and those that are not must not keep others out.
 */
export class OpenCalls {
  /** In order of arrival, with the time at which each is ended. */
  readonly #calls = new Map<AnyResponse, number>();
  /** How many calls of a session were ended to make room. */
  readonly #ended = new WeakMap<Http2Session, number>();
  readonly #sweep = setInterval(() => this.#endLate(), SWEEP_EVERY_MS).unref();

  /** Counts a call until it is answered. One that `lasts` may take as long as its client wants. */
  begin(response: AnyResponse, lasts: boolean): void {
    const [longest] = this.#calls.size < MAX_OPEN_CALLS ? [] : this.#calls.keys();
    if (longest !== undefined) this.#makeRoom(longest);
    this.#calls.set(response, lasts ? Number.POSITIVE_INFINITY : performance.now() + CALL_TIMEOUT_MS);
    response.once("close", () => this.#calls.delete(response));
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  /** A session that fills the room again and again is ended as a whole: call by call would keep others waiting. */
  #makeRoom(longest: AnyResponse): void {
    this.#end(longest);
    const session = "stream" in longest ? longest.stream?.session : undefined;
    if (session === undefined) return;
    const ended = (this.#ended.get(session) ?? 0) + 1;
    this.#ended.set(session, ended);
    if (ended > MAX_ENDED_CALLS) session.destroy();
  }

  #endLate(): void {
    const now = performance.now();
    for (const [response, end] of this.#calls) if (end <= now) this.#end(response);
  }

  #end(response: AnyResponse): void {
    this.#calls.delete(response);
    endResponse(response);
  }
}
