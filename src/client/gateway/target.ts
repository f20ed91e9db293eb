import { Certificate_State, Query } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import type { QueryClient } from "../chain/query.ts";
import type { GatewayCredential } from "./credential.ts";
import { gatewayClientErrors } from "./errors.ts";

/** A certificate as the chain has it. */
export interface PublishedCertificate {
  readonly state: "valid" | "revoked";
  readonly pem: Uint8Array;
}

/** A provider that its certificate on the chain authenticates. Node.js only: pages do not see certificates. */
export interface GatewayTarget {
  /** The provider's account. */
  readonly provider: string;
  /** `https://host:port`, as the provider published it. */
  readonly hostUri: string;
  /** Asks the chain. */
  readonly certificateOf: (owner: string, serial: string) => Promise<PublishedCertificate | undefined>;
}

/**
 * A provider at an address that browsers accept: its gateway's name for browsers, or a relay that authenticates the
 * provider. Requests carry tokens alone.
 */
export interface WebTarget {
  /** The provider's account. */
  readonly provider: string;
  /** Base URL of the gateway's routes, such as `https://gateway.example.com` or `http://127.0.0.1:8080/relay/svc1...`. */
  readonly url: string;
}

/** Who asks. */
export interface GatewayCaller {
  /** Undefined for public information. */
  readonly credential: GatewayCredential | undefined;
  /** Makes the token of the call, once the server is authenticated; undefined for calls without. */
  readonly token: () => Promise<string | undefined>;
  /** Milliseconds for the connection. */
  readonly connectMs: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One request to a gateway. */
export interface GatewayRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: string | undefined;
  /** Milliseconds for the whole answer. */
  readonly timeoutMs: number;
}

/** Host and port of the address that a provider published. */
export function gatewayAddress(hostUri: string): {
  readonly host: string;
  readonly port: number;
  readonly header: string;
} {
  const url = URL.canParse(hostUri) ? new URL(hostUri) : undefined;
  if (url?.protocol !== "https:" || url.hostname === "")
    throw gatewayClientErrors.badAddress(JSON.stringify(hostUri.slice(0, 200)));
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return { host, port: url.port === "" ? 443 : Number(url.port), header: url.host };
}

/** The URL of a gateway's route below a base URL. */
export function routeUrl({ url: base }: WebTarget, path: string): URL {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === undefined || !isWeb || url.username !== "" || url.search !== "" || url.hash !== "")
    throw gatewayClientErrors.badAddress(JSON.stringify(base.slice(0, 200)));
  return new URL(url.href.replace(/\/$/, "") + path);
}

/** Looks certificates up on the chain, for `GatewayTarget`. */
export function publishedCertificates(query: Pick<QueryClient, "call">): GatewayTarget["certificateOf"] {
  return async (owner, serial) => {
    const { certificates } = await query.call(Query.method.certificates, { filter: { owner, serial } });
    const found = certificates.find((each) => each.serial === serial)?.certificate;
    if (found === undefined) return undefined;
    return { state: found.state === Certificate_State.valid ? "valid" : "revoked", pem: found.cert };
  };
}
