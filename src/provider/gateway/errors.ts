import type { Socket } from "node:net";
import { manifestErrors } from "../../sdl/index.ts";
import { defineErrors, type ErrorFactory, SvcError } from "../../util/index.ts";
import { clusterErrors } from "../cluster/index.ts";
import { ingressErrors } from "../hostnames/index.ts";
import { leaseErrors } from "../leases/index.ts";
import { HOST_REASONS } from "../reasons.ts";

/** Refusals of the gateway itself. Texts never repeat a credential. */
export const gatewayErrors = defineErrors("gateway", {
  badRequest: [2, "bad request"],
  ambiguous: [3, "both a client certificate and a token were given", "give one of them"],
  noCredential: [
    4,
    "this needs a client certificate or a token of the lease's owner",
    "svc provider commands find or make one by themselves; to make a certificate: svc tx cert create client",
  ],
  certificate: [5, "client certificate refused", "make a new one: svc tx cert create client"],
  token: [6, "token refused", "make a new one, signed by the account's key, for this provider"],
  scope: [7, "the token does not allow this", "make one with the scope and the services that you need"],
  notFound: [8, "not found"],
  chainUnreachable: [9, "the provider cannot query the chain now", "nothing was changed; try again in a moment"],
  tooMany: [10, "too many requests", "wait a moment"],
  tooLarge: [11, "the request is too large"],
  upgrade: [12, "this is a stream", "open it as a websocket"],
  replayed: [13, "the token was already used", "make a new one for every shell"],
  origin: [14, "web pages may not use a client certificate here", "use a token"],
  body: [15, "the body is not what was expected"],
  timeout: [16, "the request took too long"],
  noPrice: [17, "this provider would not bid"],
  unbound: [18, "a token without aud or jti may only read", "name this provider in aud, and the token in jti"],
});

/** All rows, by the name of their errors' table. */
export const failureRows = (): Readonly<Record<string, readonly Row[]>> => ROWS;

/** An error as sent: HTTP status and JSON body. */
export interface Failure {
  readonly status: number;
  readonly body: { readonly code: string; readonly message: string; readonly hint?: string };
}

type Row = readonly [error: ErrorFactory, status: number, code: string];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  gateway: [
    [gatewayErrors.badRequest, 400, "bad_request"],
    [gatewayErrors.ambiguous, 400, "ambiguous_credentials"],
    [gatewayErrors.noCredential, 401, "unauthorized"],
    [gatewayErrors.certificate, 401, "certificate_refused"],
    [gatewayErrors.token, 401, "token_refused"],
    [gatewayErrors.scope, 403, "forbidden"],
    [gatewayErrors.unbound, 403, "forbidden"],
    [gatewayErrors.notFound, 404, "not_found"],
    [gatewayErrors.chainUnreachable, 503, "chain_unreachable"],
    [gatewayErrors.tooMany, 429, "too_many_requests"],
    [gatewayErrors.tooLarge, 413, "too_large"],
    [gatewayErrors.upgrade, 426, "websocket_expected"],
    [gatewayErrors.replayed, 401, "token_replayed"],
    [gatewayErrors.origin, 403, "origin_refused"],
    [gatewayErrors.body, 422, "invalid_body"],
    [gatewayErrors.timeout, 408, "timeout"],
    [gatewayErrors.noPrice, 422, "no_bid"],
  ],
  lease: [
    [leaseErrors.notFound, 404, "lease_not_found"],
    [leaseErrors.noManifest, 404, "no_manifest"],
    [leaseErrors.busy, 409, "manifest_busy"],
    [leaseErrors.versionMismatch, 422, "version_mismatch"],
    [leaseErrors.hostMissing, 422, "hostname_missing"],
    [leaseErrors.unknownService, 404, "service_not_found"],
    [leaseErrors.closing, 409, "lease_closing"],
    [leaseErrors.notReady, 409, "service_not_ready"],
    [leaseErrors.migrating, 409, "hostnames_busy"],
    [leaseErrors.noEndpoint, 400, "endpoint_not_movable"],
    [leaseErrors.noAddress, 400, "endpoint_not_movable"],
    [leaseErrors.addressesMigrating, 409, "endpoints_busy"],
  ],
  sdl: [
    [manifestErrors.invalid, 422, "invalid_manifest"],
    [manifestErrors.mismatch, 422, "manifest_mismatch"],
  ],
  ingress: [
    [ingressErrors.invalidHost, 422, "invalid_hostname"],
    [ingressErrors.blockedHost, 422, "hostname_blocked"],
    [ingressErrors.ownDomain, 422, "hostname_blocked"],
    [ingressErrors.hostInUse, 422, "hostname_in_use"],
    [ingressErrors.hostUnproven, 422, "hostname_unproven"],
    [ingressErrors.dnsAway, 503, "dns_unreachable"],
    [ingressErrors.hostResting, 422, "hostname_resting"],
    [ingressErrors.tooManyHosts, 422, "too_many_hostnames"],
    [ingressErrors.notMovable, 400, "hostname_not_movable"],
    [ingressErrors.askedTooOften, 429, "too_many_requests"],
    [ingressErrors.hostUnavailable, 422, "hostname_unavailable"],
  ],
  cluster: [
    [clusterErrors.unreachable, 503, "cluster_unreachable"],
    [clusterErrors.refused, 503, "cluster_refused"],
    [clusterErrors.unsupported, 422, "cannot_run"],
    [clusterErrors.imageRefused, 422, "image_refused"],
    [clusterErrors.staleGeneration, 422, "stale_manifest"],
    [clusterErrors.unknownLease, 503, "not_deployed_yet"],
    [clusterErrors.noReplica, 503, "no_running_replica"],
    [clusterErrors.closing, 409, "lease_closing"],
    [clusterErrors.noPorts, 422, "no_ports_left"],
    [clusterErrors.noAddresses, 422, "no_addresses_left"],
  ],
};

const INTERNAL: Failure = {
  status: 500,
  body: { code: "internal", message: "the provider failed to answer; its log says why" },
};

/** The address of the cluster is private to the provider. */
const CLUSTER_AWAY: Failure = {
  status: 503,
  body: {
    code: "cluster_unreachable",
    message: HOST_REASONS.engineAway.tenant,
    hint: HOST_REASONS.engineAway.advice,
  },
};

/** The tenant's view of an error. Only known errors show their text. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof SvcError)) return INTERNAL;
  const row = ROWS[error.codespace]?.find(([factory]) => factory.code === error.code);
  if (row === undefined) return INTERNAL;
  if (row[0] === clusterErrors.unreachable) return CLUSTER_AWAY;
  const hint = error.hint === undefined ? {} : { hint: error.hint };
  return { status: row[1], body: { code: row[2], message: error.message, ...hint } };
}

const FASTIFY_FAILURES: Readonly<Record<string, () => Error>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => gatewayErrors.tooLarge(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => gatewayErrors.badRequest("the body does not have the announced length"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => gatewayErrors.badRequest("the media type is not supported"),
  FST_ERR_BAD_URL: () => gatewayErrors.notFound(),
};

/** The gateway's failure for a request that its HTTP server refused; undefined for other errors. */
export function fastifyFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  const make = FASTIFY_FAILURES[error.code];
  return make === undefined ? undefined : toFailure(make());
}

/** Answers bytes that are not an HTTP request. */
export function refuseMalformed(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const slow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const { status, body } = toFailure(slow ? gatewayErrors.timeout() : gatewayErrors.badRequest("not an HTTP request"));
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status} ${slow ? "Request Timeout" : "Bad Request"}\r\nconnection: close\r\n`;
  socket.end(`${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}
