import { type IncomingMessage, request } from "node:http";
import { errorText, fromHex, toHex } from "../../util/index.ts";
import { ledgerErrors } from "./errors.ts";
import { type ExchangeOptions, type LedgerTransport, MAX_ANSWER } from "./transport.ts";

const MAX_BODY = 4 * MAX_ANSWER;

/** The interface for programs of the emulator Speculos, at port 5000: `POST /apdu` with `{"data":"<hexadecimal>"}`. */
export function openSpeculosHttp(url: URL): LedgerTransport {
  const endpoint = new URL("/apdu", url);
  return {
    async exchange(apdu, options = {}) {
      return readAnswer(await post(endpoint, JSON.stringify({ data: toHex(apdu) }), options));
    },
    async close() {},
  };
}

function post(url: URL, body: string, { timeoutMs }: ExchangeOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const fail = (error: unknown): void => reject(faultOf(error, { url, isLate: signal?.aborted === true }));
    const sent = request(
      url,
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        agent: false,
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        readBody(response).then(resolve, fail);
      },
    );
    sent.once("error", fail);
    sent.end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_BODY) break;
  }
  return text;
}

function faultOf(error: unknown, { url, isLate }: { readonly url: URL; readonly isLate: boolean }): Error {
  if (isLate) return ledgerErrors.silent();
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ECONNREFUSED" || code === "ENOTFOUND") {
    const hint = "start the emulator, or name its port";
    return ledgerErrors.notFound(`${url.host}: ${errorText(error)}`, { hint, cause: error });
  }
  return ledgerErrors.disconnected(undefined, { cause: error });
}

function readAnswer(text: string): Uint8Array {
  try {
    const { data }: { readonly data?: unknown } = JSON.parse(text);
    if (typeof data === "string") return fromHex(data);
  } catch {
    // Reported below, without repeating the answer, because it may be anything.
  }
  throw ledgerErrors.badAnswer("no JSON with hexadecimal data");
}
