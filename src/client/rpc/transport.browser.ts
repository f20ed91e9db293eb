import { errorText } from "../../util/index.ts";
import { clientErrors } from "../errors.ts";
import type { Transport } from "./transport.ts";

/** Requests by `fetch`; the browser keeps and reuses connections. */
export function httpTransport(url: URL): Transport {
  let closing = new AbortController();
  return {
    async post(body, timeoutMs) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([closing.signal, timeout]);
      const headers = { "content-type": "application/json" };
      try {
        return await (await fetch(url, { method: "POST", headers, body, signal })).text();
      } catch (cause) {
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

/** Browsers do not tell a page the cause. */
const HINT =
  "is the node running, is the address right, and does the node allow this page's origin (--rpc.cors-allowed-origins)?";
