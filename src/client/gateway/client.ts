import type { TokenScope } from "../../crypto/index.ts";
import { type Manifest, manifestJson } from "../../sdl/index.ts";
import type { DecimalCoin } from "../../util/index.ts";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { type LeaseKey, type OrderKey, printJson, toPlainJson } from "../../wire/index.ts";
import {
  type GatewayEvent,
  type GatewayLogLine,
  type LeaseStatus,
  type OrderStatus,
  readEvent,
  readLeaseStatus,
  readLogLine,
  readOrderStatus,
  readPrice,
  readScreening,
  readServiceStatus,
  readTransferred,
  type Screening,
  type ServiceStatus,
} from "./answers.ts";
import { type GatewayCredential, makeToken } from "./credential.ts";
import { sendRequest } from "./request.ts";
import { followLogs, type GatewaySocket, openSocket, readFeed, ShellSession } from "./stream/index.ts";
import type { GatewayCaller, GatewayRequest, GatewayTarget, WebTarget } from "./target.ts";

/** A provider, and how the tenant authenticates to it. */
export type GatewayClientOptions = (GatewayTarget | WebTarget) & CallerOptions;

/** How a tenant authenticates, and how long it waits. */
interface CallerOptions {
  /** Not needed for public information. */
  readonly credential?: GatewayCredential;
  /** Milliseconds for a connection and for an answer; a manifest may take longer. */
  readonly timeoutMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Which services a stream is about, and for how long it runs. */
export interface StreamRequest {
  /** Services to read; empty for all. */
  readonly services: readonly string[];
  readonly follow: boolean;
  /** Entries from the end, of each replica; -1 for all. */
  readonly tail: number;
  readonly signal: AbortSignal;
  /** Called when the stream is open, and again after each break. */
  readonly onOpen?: () => void;
}

/** Which lines are wanted. */
export interface LogRequest extends StreamRequest {
  /** Only lines from this time on. */
  readonly since?: Date | undefined;
  /** Lines of the run before the last start of each replica; not with `follow`. */
  readonly previous?: boolean | undefined;
  /** Called when a followed stream broke and is being reconnected. */
  readonly onRetry?: (reason: Error) => void;
}

/** A command, and the replica of a service that runs it. */
export interface ShellRequest {
  readonly service: string;
  readonly replica: number;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
}

const TIMEOUT_MS = 15_000;
const MANIFEST_TIMEOUT_MS = 120_000;
/** Seconds; a long-lived connection ends when its token expires. */
const STREAM_LIFETIME = 3_600;

/** Access that a call's token must allow. */
interface Purpose {
  readonly scope: TokenScope;
  /** Nothing for all leases at the provider. */
  readonly id: Partial<Pick<LeaseKey, "dseq" | "gseq" | "oseq">>;
  readonly lifetime?: number;
}

/**
 * A provider's gateway, for a tenant. Each call opens its own connection and sends nothing before the server is
 * authenticated.
 */
export class GatewayClient {
  readonly #options: GatewayClientOptions;
  readonly #timeoutMs: number;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** `/status`: leases, capacity, orders. */
  status(): Promise<unknown> {
    return this.#get("/status");
  }

  /** `/version`: the release of the provider's program. */
  version(): Promise<unknown> {
    return this.#get("/version");
  }

  /** The bid that an order for the group would get now: its price per block for all resources, or why there is none. */
  async screen(group: GroupSpec): Promise<Screening> {
    return readScreening(await this.#aboutGroup("/screen", group));
  }

  /** The price per block that would be bid for the group, whether there is room or not; rejects with the reason if none. */
  async price(group: GroupSpec): Promise<DecimalCoin> {
    return readPrice(await this.#aboutGroup("/validate", group)).min_bid_price;
  }

  #aboutGroup(path: string, group: GroupSpec): Promise<unknown> {
    const body = printJson(toPlainJson(GroupSpecSchema, group));
    return this.#exchange({ method: "POST", path, body, timeoutMs: this.#timeoutMs }, undefined);
  }

  /** Sends the manifest; resolves when the provider has stored it. */
  async sendManifest(dseq: bigint, manifest: Manifest): Promise<void> {
    const purpose: Purpose = { scope: "send-manifest", id: { dseq } };
    const path = `/deployment/${dseq}/manifest`;
    const body = manifestJson(manifest);
    await this.#exchange({ method: "PUT", path, body, timeoutMs: MANIFEST_TIMEOUT_MS }, purpose);
  }

  /** The part of the manifest that is in force for the lease, as JSON. */
  getManifest(lease: LeaseKey): Promise<unknown> {
    return this.#get(`${leasePath(lease)}/manifest`, { scope: "get-manifest", id: lease });
  }

  /** Services of a lease with their replicas, addresses and ports. */
  async leaseStatus(lease: LeaseKey): Promise<LeaseStatus> {
    return readLeaseStatus(await this.#get(`${leasePath(lease)}/status`, { scope: "status", id: lease }));
  }

  /** The same for one service. */
  async serviceStatus(lease: LeaseKey, service: string): Promise<ServiceStatus> {
    const path = `${leasePath(lease)}/service/${encodeURIComponent(service)}/status`;
    return readServiceStatus(await this.#get(path, { scope: "status", id: lease }));
  }

  /** The provider's decision on one of our orders: why it does not bid. */
  async orderStatus({ dseq, gseq, oseq }: OrderKey): Promise<OrderStatus> {
    const path = `/order/${dseq}/${gseq}/${oseq}`;
    return readOrderStatus(await this.#get(path, { scope: "status", id: { dseq } }));
  }

  /** Resolves if a lease of our order could have these host names at the provider now; rejects with the refusal. */
  async checkHosts({ dseq, gseq, oseq }: OrderKey, hosts: readonly string[]): Promise<void> {
    const path = `/order/${dseq}/${gseq}/${oseq}/hostnames`;
    const body = JSON.stringify({ hostnames: hosts });
    const request = { method: "POST" as const, path, body, timeoutMs: this.#timeoutMs };
    await this.#exchange(request, { scope: "send-manifest", id: { dseq } });
  }

  /** Lines of all replicas; with `follow` for as long as the lease lives, across lost connections. */
  logs(lease: LeaseKey, request: LogRequest): AsyncIterable<GatewayLogLine> {
    const open = (tail: number) =>
      this.#feed({ lease, kind: "logs", scope: "logs" }, { ...request, tail }, readLogLine);
    const { tail, signal, onRetry } = request;
    return request.follow ? followLogs({ tail, signal, open, onRetry }) : flatten(open(tail));
  }

  /** Restarts the replicas of a service, one after the other. */
  async restart(lease: LeaseKey, service: string): Promise<void> {
    const path = `${leasePath(lease)}/service/${encodeURIComponent(service)}/restart`;
    await this.#exchange({ method: "POST", path, timeoutMs: this.#timeoutMs }, { scope: "restart", id: lease });
  }

  /**
   * Migrates host names that other deployments of the account have at this provider to the lease; its manifest names them,
   * and its service is ready. Resolves with the migrated names when no request goes to the others any more.
   */
  async migrateHosts({ dseq, gseq }: LeaseKey, hosts: readonly string[]): Promise<readonly string[]> {
    const body = { hostnames_to_migrate: hosts, destination_dseq: dseq.toString(), destination_gseq: gseq };
    return this.#migrate("hostname-migrate", "/hostname/migrate", body);
  }

  /**
   * Migrates leased addresses that other deployments of the account have at this provider to the lease; its manifest names
   * them, and its service is ready. Resolves with the names of the addresses that are the lease's now.
   */
  async migrateEndpoints({ dseq, gseq }: LeaseKey, endpoints: readonly string[]): Promise<readonly string[]> {
    const body = { endpoints_to_migrate: endpoints, destination_dseq: dseq.toString(), destination_gseq: gseq };
    return this.#migrate("ip-migrate", "/endpoint/migrate", body);
  }

  /** Only the provider knows which deployments lose something. */
  async #migrate(scope: Purpose["scope"], path: string, content: object): Promise<readonly string[]> {
    const request = { method: "POST" as const, path, body: JSON.stringify(content), timeoutMs: this.#timeoutMs };
    return readTransferred(await this.#exchange(request, { scope, id: {} })).transferred;
  }

  /** Events of the lease's containers. */
  events(lease: LeaseKey, request: StreamRequest): AsyncIterable<GatewayEvent> {
    return flatten(this.#feed({ lease, kind: "kubeevents", scope: "events" }, request, readEvent));
  }

  /** Runs a command in a replica. */
  async shell(lease: LeaseKey, request: ShellRequest): Promise<ShellSession> {
    const { service, replica, command, tty, stdin } = request;
    const query = new URLSearchParams({ service, podIndex: String(replica), tty: bit(tty), stdin: bit(stdin) });
    for (const [index, word] of command.entries()) query.set(`cmd${index}`, word);
    const purpose: Purpose = { scope: "shell", id: lease, lifetime: STREAM_LIFETIME };
    return new ShellSession(await this.#socket(`${leasePath(lease)}/shell?${query}`, purpose));
  }

  async #feed<T>(
    { lease, kind, scope }: { readonly lease: LeaseKey; readonly kind: string; readonly scope: TokenScope },
    { services, follow, tail, signal, since, previous, onOpen }: LogRequest,
    parse: (value: unknown) => T,
  ): Promise<AsyncIterable<T>> {
    const query = new URLSearchParams({ follow: bit(follow), tail: String(tail) });
    if (services.length > 0) query.set("service", services.join(","));
    if (since !== undefined) query.set("since", since.toISOString());
    if (previous === true) query.set("previous", "1");
    const purpose: Purpose = { scope, id: lease, lifetime: STREAM_LIFETIME };
    const socket = await this.#socket(`${leasePath(lease)}/${kind}?${query}`, purpose);
    onOpen?.();
    return readFeed(socket, { parse, signal });
  }

  #get(path: string, purpose?: Purpose): Promise<unknown> {
    return this.#exchange({ method: "GET", path, timeoutMs: this.#timeoutMs }, purpose);
  }

  #exchange(request: GatewayRequest, purpose: Purpose | undefined): Promise<unknown> {
    return sendRequest(this.#options, request, this.#caller(purpose));
  }

  #socket(path: string, purpose: Purpose): Promise<GatewaySocket> {
    return openSocket(this.#options, path, this.#caller(purpose));
  }

  #caller(purpose: Purpose | undefined): GatewayCaller {
    const { credential, now = Date.now } = this.#options;
    return {
      credential: purpose === undefined ? undefined : credential,
      token: () => this.#token(purpose),
      connectMs: this.#timeoutMs,
      now: now(),
    };
  }

  /** A fresh token for every call, which allows only that call. */
  async #token(purpose: Purpose | undefined): Promise<string | undefined> {
    const { credential, provider, now = Date.now } = this.#options;
    if (purpose === undefined || credential?.kind !== "token") return undefined;
    const { scope, id, lifetime } = purpose;
    return makeToken(credential, { ...id, provider, scope, ...(lifetime === undefined ? {} : { lifetime }) }, now());
  }
}

function leasePath({ dseq, gseq, oseq }: LeaseKey): string {
  return `/lease/${dseq}/${gseq}/${oseq}`;
}

function bit(value: boolean): string {
  return value ? "1" : "0";
}

async function* flatten<T>(items: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await items;
}
