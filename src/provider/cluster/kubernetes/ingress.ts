import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import { type ClusterIngress, clusterErrors, leaseNamespace, type ServiceRoute } from "../contract/index.ts";
import type { DriverContext } from "./context.ts";
import type { Lease } from "./lease/lease.ts";
import { ingressObjects, innerPorts, KIND, LABEL } from "./objects/index.ts";

/** Port at which the cluster's ingress takes requests, and whether over TLS. */
export interface IngressPlace {
  readonly scheme: "http" | "https";
  readonly port: number | undefined;
}

/** Host names are routed by the cluster's own ingress, from objects in the name spaces of leases. */
export class ObjectIngress implements ClusterIngress {
  readonly ingress = "cluster";
  readonly #context: DriverContext;
  readonly #leaseOf: (namespace: string) => Lease | undefined;
  readonly #place: IngressPlace;

  constructor(context: DriverContext, leaseOf: (namespace: string) => Lease | undefined, place: IngressPlace) {
    this.#context = context;
    this.#leaseOf = leaseOf;
    this.#place = place;
  }

  async route(id: LeaseKey, services: readonly ServiceRoute[]): Promise<void> {
    const lease = this.#leaseOf(leaseNamespace(id));
    if (lease === undefined) throw clusterErrors.unknownLease(formatLeaseId(id));
    const wanted = services.flatMap((route) => {
      const service = lease.spec.group.services.find(({ name }) => name === route.target.service);
      const port = innerPorts(service?.expose ?? []).find(({ targetPort }) => targetPort === route.target.port);
      return port === undefined ? [] : ingressObjects(id, route, port.port, this.#context.objects);
    });
    for (const { resource, object } of wanted) await this.#context.api.apply(resource, object);
    await this.#remove(lease.namespace, new Set(wanted.map(({ object }) => object.metadata.name)));
  }

  async unroute(id: LeaseKey): Promise<void> {
    await this.#remove(leaseNamespace(id), new Set());
  }

  url(host: string): string {
    const { scheme, port } = this.#place;
    return `${scheme}://${host}${port === undefined ? "" : `:${port}`}/`;
  }

  /** All routes of the lease but some. */
  async #remove(namespace: string, kept: ReadonlySet<string>): Promise<void> {
    const { api, provider } = this.#context;
    const labels = `${LABEL.provider}=${provider},${LABEL.lease}=${namespace}`;
    const { objects } = await api.list(KIND.ingress, { namespace, labels });
    for (const { metadata } of objects) {
      if (kept.has(metadata.name) || metadata.uid === undefined) continue;
      await api.delete(KIND.ingress, { namespace, name: metadata.name }, { uid: metadata.uid });
    }
  }
}
