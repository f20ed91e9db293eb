import { gatewayClientErrors } from "./errors.ts";
import type { GatewayCaller, GatewayRequest, GatewayTarget, WebTarget } from "./target.ts";
import { fetchAnswer } from "./web-request.ts";

/** Sends one request to a provider and reads the answer's JSON; undefined if it is empty. */
export async function sendRequest(
  target: GatewayTarget | WebTarget,
  request: GatewayRequest,
  caller: GatewayCaller,
): Promise<unknown> {
  if (!("url" in target)) throw gatewayClientErrors.notInPages();
  return fetchAnswer(target, request, await caller.token());
}
