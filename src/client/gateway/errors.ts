import { defineErrors, SvcError } from "../../util/index.ts";

/** Why a provider's gateway could not be used. */
export const gatewayClientErrors = defineErrors("provider-client", {
  unreachable: [
    1,
    "the provider cannot be reached",
    "is it running? see its address with: svc query provider get ADDRESS",
  ],
  badAddress: [2, "the provider's address on the chain is not an https address"],
  wrongServer: [
    3,
    "the server is not the provider",
    "nothing was sent to it; the provider must use the certificate that it has published on the chain",
  ],
  refused: [4, "refused by the provider"],
  badAnswer: [5, "unexpected answer from the provider"],
  timeout: [6, "the provider did not answer in time"],
  ended: [7, "the stream was ended by the provider"],
  notInPages: [
    8,
    "a page cannot check a provider's certificate against the chain",
    "give the URL of its gateway for browsers, or of a relay, instead of hostUri",
  ],
  noWebAddress: [9, "the provider has no address for browsers", "use another provider, or the command line"],
});

/** A refusal with the provider's own words. */
export class GatewayRefusal extends SvcError {
  /** HTTP status. */
  readonly status: number;
  /** Machine-readable reason, for example `version_mismatch`. */
  readonly reason: string;

  constructor(status: number, answer: { readonly code: string; readonly message: string; readonly hint?: string }) {
    const options = answer.hint === undefined ? {} : { hint: answer.hint };
    super("provider-client", gatewayClientErrors.refused.code, answer.message, options);
    this.name = "GatewayRefusal";
    this.status = status;
    this.reason = answer.code;
  }
}

/** A websocket that closed before its time. */
export class StreamEnd extends SvcError {
  /** Close code (RFC 6455 section 7.4). */
  readonly closeCode: number;

  constructor(closeCode: number, reason: string) {
    super("provider-client", gatewayClientErrors.ended.code, reason === "" ? `connection lost (${closeCode})` : reason);
    this.name = "StreamEnd";
    this.closeCode = closeCode;
  }
}
