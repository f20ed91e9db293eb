import * as v from "valibot";
import type { TokenScope } from "../../crypto/index.ts";
import { decodeManifest, type Manifest, manifestJson } from "../../sdl/index.ts";
import { errorText, fromUtf8, SvcError } from "../../util/index.ts";
import { type LeaseKey, type OrderNumbers, readBoundedJson } from "../../wire/index.ts";
import { type LeaseService, leaseErrors } from "../leases/index.ts";
import type { Access, Admission, Grant } from "./access/authorizer.ts";
import { gatewayErrors } from "./errors.ts";
import { hostNames, readBody, readLogParameters, readShellParameters, readStreamParameters } from "./parameters.ts";
import { readIds } from "./paths.ts";
import type { GatewaySources } from "./sources.ts";
import { sendEvents, sendLogs } from "./streams/feeds.ts";
import { runShell } from "./streams/shell.ts";
import type { GatewayStream } from "./streams/stream.ts";

/** Services for handlers of tenants' requests. */
export interface TenantServices {
  readonly leases: LeaseService;
  readonly sources: GatewaySources;
}

/** A request after its path was read. */
export interface TenantRequest {
  readonly grant: Grant;
  readonly ids: OrderNumbers;
  readonly service: string;
  /** The address with its query. */
  readonly url: string;
  readonly body: Uint8Array;
}

/** JSON text, a value to be printed as JSON, or nothing. */
export type TenantAnswer = string | object | undefined;

interface TenantRoute {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly scope: TokenScope;
  answer(request: TenantRequest, services: TenantServices): Promise<TenantAnswer>;
}

const LEASE = "/lease/:dseq/:gseq/:oseq";

/** Every request of a tenant with a single answer, with the scope that a token needs for it. */
export const TENANT_ROUTES: readonly TenantRoute[] = [
  {
    method: "PUT",
    path: "/deployment/:dseq/manifest",
    scope: "send-manifest",
    async answer({ grant, ids, body }, { leases }) {
      await leases.manifestReceived(grant.owner, ids.dseq, readManifest(body));
      return undefined;
    },
  },
  {
    method: "GET",
    path: `${LEASE}/status`,
    scope: "status",
    answer: ({ grant }, { leases }) => leases.status(needLease(grant)),
  },
  {
    method: "GET",
    path: `${LEASE}/service/:service/status`,
    scope: "status",
    async answer({ grant, service }, { leases }) {
      const { services } = await leases.status(needLease(grant));
      const found = Object.hasOwn(services, service) ? services[service] : undefined;
      if (found === undefined) throw leaseErrors.unknownService(`it has ${Object.keys(services).join(", ")}`);
      return found;
    },
  },
  {
    method: "POST",
    path: `${LEASE}/service/:service/restart`,
    scope: "restart",
    async answer({ grant, service }, { leases }) {
      await leases.restart(needLease(grant), service);
      return undefined;
    },
  },
  {
    method: "GET",
    path: `${LEASE}/manifest`,
    scope: "get-manifest",
    answer: async ({ grant }, { leases }) => manifestJson([leases.group(needLease(grant))]),
  },
  {
    method: "GET",
    path: "/order/:dseq/:gseq/:oseq",
    scope: "status",
    async answer({ grant, ids }, { sources }) {
      const { dseq, gseq = 0, oseq = 0 } = ids;
      const answer = sources.order({ owner: grant.owner, dseq, gseq, oseq });
      if (answer === undefined) throw gatewayErrors.notFound("the order");
      return answer;
    },
  },
  {
    method: "POST",
    path: "/order/:dseq/:gseq/:oseq/hostnames",
    scope: "send-manifest",
    async answer({ grant: { owner }, ids, body }, { leases, sources }) {
      const { dseq, gseq = 0, oseq = 0 } = ids;
      // Proofs cost DNS queries: they are for tenants that have paid for an order.
      if (sources.order({ owner, dseq, gseq, oseq }) === undefined) throw gatewayErrors.notFound("the order");
      const { hostnames } = readBody(v.strictObject({ hostnames: hostNames }), body);
      await leases.checkHosts({ owner, dseq, gseq }, hostnames);
      return { available: hostnames };
    },
  },
];

/** A kind of stream: its access, and its handler. */
interface StreamRoute {
  readonly scope: TokenScope;
  readonly once: boolean;
  /** Reads the address before anything else is done; the services it is about decide the access. */
  open(url: string): { readonly services: readonly string[]; readonly run: StreamRun };
}

type StreamRun = (stream: GatewayStream, lease: LeaseKey, leases: LeaseService) => Promise<void>;

/** Every stream, by the last word of its path. */
export const STREAM_ROUTES: Readonly<Record<string, StreamRoute>> = {
  logs: {
    scope: "logs",
    once: false,
    open(url) {
      const parameters = readLogParameters(url);
      const run: StreamRun = (stream, lease, leases) => sendLogs(stream, leases, { lease, parameters });
      return { services: parameters.services, run };
    },
  },
  kubeevents: {
    scope: "events",
    once: false,
    open(url) {
      const parameters = readStreamParameters(url);
      const run: StreamRun = (stream, lease, leases) => sendEvents(stream, leases, { lease, parameters });
      return { services: parameters.services, run };
    },
  },
  shell: {
    scope: "shell",
    once: true,
    open(url) {
      const parameters = readShellParameters(url);
      const run: StreamRun = (stream, lease, leases) => runShell(stream, leases, { lease, parameters });
      return { services: [parameters.service], run };
    },
  },
};

const STREAM_PATH = /^\/lease\/([^/]+)\/([^/]+)\/([^/]+)\/([a-z]+)$/;

/** The stream of a path, with the access that it needs. */
export function findStream(
  path: string,
  url: string,
): { readonly access: Access; readonly run: StreamRun } | undefined {
  const [, dseq = "", gseq = "", oseq = "", kind = ""] = STREAM_PATH.exec(path) ?? [];
  const route = Object.hasOwn(STREAM_ROUTES, kind) ? STREAM_ROUTES[kind] : undefined;
  if (route === undefined) return undefined;
  const ids = readIds({ dseq, gseq, oseq });
  const { services, run } = route.open(url);
  return { access: { ...ids, scope: route.scope, once: route.once, services }, run };
}

function needLease({ lease }: Grant): LeaseKey {
  if (lease === undefined) throw leaseErrors.notFound();
  return lease;
}

function readManifest(body: Uint8Array): Manifest {
  try {
    return decodeManifest(readBoundedJson(fromUtf8(body)));
  } catch (error) {
    if (error instanceof SvcError && error.codespace === "sdl") throw error;
    throw gatewayErrors.body(`the manifest is not readable JSON: ${errorText(error)}`, { cause: error });
  }
}

/** A request whose body names the leases that it is about. */
export interface MigrateRequest {
  readonly admission: Admission;
  readonly body: Uint8Array;
}

interface MigrateRoute {
  readonly path: string;
  readonly scope: TokenScope;
  answer(request: MigrateRequest, leases: LeaseService): Promise<object>;
}

/** Numbers of deployments may exceed the exact integers of JSON. */
const number = v.pipe(v.union([v.pipe(v.number(), v.safeInteger()), v.string()]), v.transform(String));
const destination = { destination_dseq: number, destination_gseq: v.optional(number, "1") };
const hostMigration = v.strictObject({ hostnames_to_migrate: hostNames, ...destination });
const endpointMigration = v.strictObject({ endpoints_to_migrate: hostNames, ...destination });

/** Requests that migrate something to another deployment of the same owner. */
export const MIGRATE_ROUTES: readonly MigrateRoute[] = [
  {
    path: "/hostname/migrate",
    scope: "hostname-migrate",
    async answer({ admission: { owner, permit }, body }, leases) {
      const { hostnames_to_migrate: hosts, ...to } = readBody(hostMigration, body);
      return { transferred: await leases.migrateHosts({ owner, hosts, permit, ...destinationOf(to) }) };
    },
  },
  {
    path: "/endpoint/migrate",
    scope: "ip-migrate",
    async answer({ admission: { owner, permit }, body }, leases) {
      const { endpoints_to_migrate: endpoints, ...to } = readBody(endpointMigration, body);
      return { transferred: await leases.migrateEndpoints({ owner, endpoints, permit, ...destinationOf(to) }) };
    },
  },
];

function destinationOf(to: { readonly destination_dseq: string; readonly destination_gseq: string }) {
  const { dseq, gseq = 0 } = readIds({ dseq: to.destination_dseq, gseq: to.destination_gseq, oseq: "1" });
  return { dseq, gseq };
}
