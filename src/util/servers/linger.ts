/** Time for which a refused request's body is still read; milliseconds. */
const LINGER_MS = 2_000;

/** The parts of a request and its response in Node.js that are used; the browser build lacks Node's types. */
interface Body {
  readonly complete: boolean;
  once(event: "end" | "close", listener: () => void): Body;
  resume(): unknown;
}

interface Answer {
  readonly req: Body;
  write(text: string): unknown;
  end(text?: string): unknown;
}

/**
 * Sends the whole body of an answer whose connection is closed after it, and ends it once the request's body has been read and
 * dropped, or after a while: a client that is still sending when its connection ends would lose the answer (RFC 9112 section 9.6).
 * The header must have announced the answer's length.
 */
export function endAfterBody(answer: Answer, text: string): void {
  const request = answer.req;
  if (request.complete) {
    answer.end(text);
    return;
  }
  const end = (): void => {
    clearTimeout(timer);
    answer.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  answer.write(text);
  request.once("end", end).once("close", end).resume();
}
