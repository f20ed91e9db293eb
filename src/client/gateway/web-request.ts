import * as v from "valibot";
import { errorText, SvcError, tryJson } from "../../util/index.ts";
import { boundedText } from "../rpc/bounded-text.ts";
import { GatewayRefusal, gatewayClientErrors } from "./errors.ts";
import { type GatewayRequest, routeUrl, type WebTarget } from "./target.ts";

/** Browsers do not tell a page the cause. */
const HINT =
  "browsers do not say why: is the provider running, and does its address for browsers have a certificate that they accept?";

/** Sends one request by `fetch` and reads the answer's JSON, within its time and size; undefined if it is empty. */
export async function fetchAnswer(
  target: WebTarget,
  { method, path, body, timeoutMs }: GatewayRequest,
  token: string | undefined,
): Promise<unknown> {
  const url = routeUrl(target, path);
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
      redirect: "manual",
      referrerPolicy: "no-referrer",
    });
    if (response.type === "opaqueredirect") throw redirected();
    return readAnswer(response.status, await boundedText(response, { max: MAX_ANSWER, tooLarge }));
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    if (signal.aborted) throw gatewayClientErrors.timeout(`no answer within ${timeoutMs / 1000} s`);
    throw gatewayClientErrors.unreachable(`${url.origin}: ${errorText(cause)}`, { cause, hint: HINT });
  }
}

/** Largest answer in bytes. */
export const MAX_ANSWER = 4 << 20;

export function tooLarge(): Error {
  return gatewayClientErrors.badAnswer("it is larger than 4 MiB");
}

const refusal = v.object({ code: v.string(), message: v.string(), hint: v.exactOptional(v.string()) });

/** The value of a good answer; a refusal throws with the provider's words. */
export function readAnswer(status: number, text: string): unknown {
  if (status >= 200 && status < 300) return text === "" ? undefined : parse(text);
  if (status >= 300 && status < 400) throw redirected();
  const said = v.safeParse(refusal, tryJson(text));
  throw new GatewayRefusal(status, said.success ? said.output : { code: "unknown", message: `HTTP status ${status}` });
}

/** A token must not follow to another server. */
export function redirected(): Error {
  return gatewayClientErrors.badAnswer("it redirects to another address");
}

function parse(text: string): unknown {
  if (/^\s*</.test(text)) {
    const hint = "is this the address of a gateway? see it with: svc query provider get ADDRESS";
    throw gatewayClientErrors.badAnswer("it is a web page", { hint });
  }
  const value = tryJson(text);
  if (value === undefined) throw gatewayClientErrors.badAnswer("it is not JSON");
  requireExact(value);
  return value;
}

/** Refuses numbers that JSON has rounded: amounts beyond 2^53 have to be texts. */
function requireExact(value: unknown): void {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each === "number" && Number.isInteger(each) && !Number.isSafeInteger(each))
      throw gatewayClientErrors.badAnswer("it has a number beyond 2^53");
    if (typeof each === "object" && each !== null) for (const part of Object.values(each)) left.push(part);
  }
}
