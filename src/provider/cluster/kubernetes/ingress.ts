import { chosenOptions, DEFAULT_HTTP_OPTIONS, type HttpOptions } from "../../../sdl/index.ts";
import { errorText, Mutexes } from "../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import { type ClusterIngress, clusterErrors, leaseNamespace, type ServiceRoute } from "../contract/index.ts";
import { tellNotKept } from "../shared/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import { ApiFailure } from "./api/failure.ts";
import type { ApiObject, Resource } from "./api/objects.ts";
import type { DriverContext } from "./context.ts";
import type { Lease } from "./lease/lease.ts";
import { shown } from "./lease/manifest.ts";
import { hostObjects, innerPorts, KIND, LABEL, LEASES_SPACE, routeObjects, type Wanted } from "./objects/index.ts";
import type { GatewayName } from "./settings.ts";

/** Port at which the cluster's ingress takes requests, and whether over TLS. */
export interface IngressPlace {
  readonly scheme: "http" | "https";
  readonly port: number | undefined;
}

/** Routes of a lease. */
interface Routed {
  readonly id: LeaseKey;
  readonly services: readonly ServiceRoute[];
  /** Whether its routes turn limits on whole answers off. */
  readonly endless: boolean;
}

/** Host names are routed by the cluster's own ingress, from objects in the namespaces of leases. */
export class ObjectIngress implements ClusterIngress {
  readonly ingress = "cluster";
  readonly #context: DriverContext;
  readonly #leaseOf: (namespace: string) => Lease | undefined;
  readonly #place: IngressPlace;
  /** One call per lease at a time: older routes must not replace newer ones. */
  readonly #turns = new Mutexes();
  readonly #routed = new Map<string, Routed>();
  /** Whether the Gateway follows limits on whole answers; undefined until the first check. */
  #endless: boolean | undefined;
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(context: DriverContext, leaseOf: (namespace: string) => Lease | undefined, place: IngressPlace) {
    this.#context = context;
    this.#leaseOf = leaseOf;
    this.#place = place;
  }

  route(id: LeaseKey, services: readonly ServiceRoute[]): Promise<void> {
    return this.#turns.run(leaseNamespace(id), () => this.#route(id, services));
  }

  async #route(id: LeaseKey, services: readonly ServiceRoute[]): Promise<void> {
    const lease = this.#leaseOf(leaseNamespace(id));
    if (lease === undefined) throw clusterErrors.unknownLease(formatLeaseId(id));
    const known = services.flatMap((route) => {
      const service = lease.spec.group.services.find(({ name }) => name === route.target.service);
      const port = innerPorts(service?.expose ?? []).find(({ targetPort }) => targetPort === route.target.port);
      return port === undefined ? [] : [{ route, port: port.port }];
    });
    const objects = { ...this.#context.objects, endless: await this.#isEndless() };
    const routes = known.flatMap(({ route, port }) => routeObjects(id, route, port, objects));
    for (const { resource, object } of routes) await this.#context.api.apply(resource, object);
    const kept = new Set(routes.map(({ object }) => object.metadata.name));
    await this.#removeRoutes(lease.namespace, kept);
    await this.#describe(
      lease.namespace,
      known.flatMap(({ route, port }) => hostObjects(id, route, port, objects)),
    );
    if (objects.gateway === undefined) return;
    for (const { route } of known) tellNotKept(this.#context.events, route, unheldOptions(route.target.options));
    this.#routed.set(lease.namespace, { id, services, endless: objects.endless });
    this.#lookLater();
  }

  async #isEndless(): Promise<boolean> {
    const { api, objects } = this.#context;
    if (objects.gateway === undefined) return false;
    this.#endless ??= await followsTimeouts(api, objects.gateway);
    return this.#endless;
  }

  #lookLater(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#look = this.#lookAgain().finally(() => {
        this.#timer = undefined;
        if (this.#routed.size > 0) this.#lookLater();
      });
    }, this.#context.timing.gateway);
    this.#timer.unref();
  }

  /** A Gateway that gets another class or another controller finds routes as it follows them. */
  async #lookAgain(): Promise<void> {
    const { api, objects, log } = this.#context;
    if (objects.gateway === undefined) return;
    const failed = (error: unknown): void => {
      log.warn("routes are not yet as the Gateway follows them", { err: errorText(error) });
    };
    this.#endless = await followsTimeouts(api, objects.gateway).catch((error: unknown) => {
      failed(error);
      return this.#endless;
    });
    for (const [namespace, { endless }] of [...this.#routed])
      if (endless !== this.#endless) await this.#routeAgain(namespace).catch(failed);
  }

  #routeAgain(namespace: string): Promise<void> {
    return this.#turns.run(namespace, async () => {
      const routed = this.#routed.get(namespace);
      if (routed === undefined || this.#closed) return;
      if (this.#leaseOf(namespace) === undefined) this.#routed.delete(namespace);
      else await this.#route(routed.id, routed.services);
    });
  }

  /** Resolves when it changes no routes any more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#look;
  }

  unroute(id: LeaseKey): Promise<void> {
    const namespace = leaseNamespace(id);
    return this.#turns.run(namespace, async () => {
      this.#routed.delete(namespace);
      await this.#removeRoutes(namespace, new Set());
      await this.#describe(namespace, []);
    });
  }

  /** Also removes routes of the other kind, from before the operator's choice: a host name has one route. */
  async #removeRoutes(namespace: string, kept: ReadonlySet<string>): Promise<void> {
    const byGateway = this.#context.objects.gateway !== undefined;
    const [own, other] = byGateway ? [KIND.httpRoute, KIND.ingress] : [KIND.ingress, KIND.httpRoute];
    await this.#remove(own, { namespace, of: namespace, kept });
    try {
      await this.#remove(other, { namespace, of: namespace, kept: new Set() });
    } catch (error) {
      // Most clusters know one kind only.
      if (!(error instanceof ApiFailure && error.kind === "refused")) throw error;
    }
  }

  /** Operators see which host names lead to the lease. */
  async #describe(of: string, hosts: readonly Wanted[]): Promise<void> {
    await shown(this.#context, "host names are not described", async () => {
      for (const { resource, object } of hosts) await this.#context.api.apply(resource, object);
      const kept = new Set(hosts.map(({ object }) => object.metadata.name));
      await this.#remove(KIND.host, { namespace: LEASES_SPACE, of, kept });
    });
  }

  url(host: string): string {
    const { scheme, port } = this.#place;
    return `${scheme}://${host}${port === undefined ? "" : `:${port}`}/`;
  }

  /** All objects of a kind that the lease has in a namespace, but some. */
  async #remove(
    resource: Resource,
    { namespace, of, kept }: { readonly namespace: string; readonly of: string; readonly kept: ReadonlySet<string> },
  ): Promise<void> {
    const { api, provider } = this.#context;
    const labels = `${LABEL.provider}=${provider},${LABEL.lease}=${of}`;
    const { objects } = await api.list(resource, { namespace, labels });
    for (const { metadata } of objects) {
      if (kept.has(metadata.name) || metadata.uid === undefined) continue;
      await api.delete(resource, { namespace, name: metadata.name }, { uid: metadata.uid });
    }
  }
}

interface ApiGateway extends ApiObject {
  readonly spec?: { readonly gatewayClassName?: string };
}

interface ApiGatewayClass extends ApiObject {
  readonly status?: { readonly supportedFeatures?: readonly { readonly name?: string }[] };
}

/** The API's word for limits on the time of whole answers. */
const REQUEST_TIMEOUT = "HTTPRouteRequestTimeout";

/**
 * Whether the controller of the Gateway says that it follows limits on the time of whole answers. Some that do not refuse
 * routes with such a field.
 */
async function followsTimeouts(api: KubernetesApi, gateway: GatewayName): Promise<boolean> {
  try {
    const { spec } = (await api.find<ApiGateway>(KIND.gateway, gateway)) ?? {};
    const name = spec?.gatewayClassName ?? "";
    const found = name === "" ? undefined : await api.find<ApiGatewayClass>(KIND.gatewayClass, { name });
    return found?.status?.supportedFeatures?.some((feature) => feature.name === REQUEST_TIMEOUT) === true;
  } catch (error) {
    if (error instanceof ApiFailure && error.kind !== "unreachable") return false;
    throw error;
  }
}

/** Options of the tenant's own choice that a route cannot hold, by their names in the deployment file. */
function unheldOptions(options: HttpOptions): string[] {
  // Who writes a larger one wants room, and gateways have no limit.
  const isLarger = options.maxBodySize > DEFAULT_HTTP_OPTIONS.maxBodySize;
  return chosenOptions(options).filter((name) => !(name === "max_body_size" && isLarger));
}
