import { errorText, SvcError } from "../../util/index.ts";
import { BusyError, clientErrors } from "../errors.ts";
import { boundedText } from "./bounded-text.ts";
import type { Transport } from "./transport.ts";

/** Answers above this size are refused, if no other is set: a page has less memory than a program. */
const MAX_ANSWER_BYTES = 64 << 20;
/** Statuses of servers that will answer later. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Requests by `fetch`; the browser keeps and reuses connections. */
export function httpTransport(url: URL, maxBytes = () => MAX_ANSWER_BYTES): Transport {
  let closing = new AbortController();
  return {
    async post(body, timeoutMs) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([closing.signal, timeout]);
      const headers = { "content-type": "application/json" };
      try {
        return await readBody(
          await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
          maxBytes(),
        );
      } catch (cause) {
        if (cause instanceof SvcError) throw cause;
        const reason = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : errorText(cause);
        throw clientErrors.unreachable(`cannot reach the node at ${url.origin}: ${reason}`, { cause, hint: HINT });
      }
    },
    close() {
      closing.abort();
      closing = new AbortController();
    },
  };
}

/** The text of a node's answer. Proxies and other servers answer with a status and a page for people. */
async function readBody(response: Response, max: number): Promise<string> {
  const { status, type } = response;
  const tooLarge = () => clientErrors.badAnswer(`the answer is larger than ${max} bytes`);
  const text = await boundedText(response, { max, tooLarge });
  if (BUSY.has(status)) throw new BusyError(`the server answers with HTTP status ${status}`, undefined);
  if (response.ok || /^\s*[[{]/.test(text)) return text;
  const words = type === "opaqueredirect" ? "redirects to another address" : `answers with HTTP status ${status}`;
  throw clientErrors.badAnswer(`the server ${words}`);
}

/** Browsers do not tell a page the cause. */
const HINT =
  "is the node running, is the address right, and does the node allow this page's origin (--rpc.cors-allowed-origins)?";
