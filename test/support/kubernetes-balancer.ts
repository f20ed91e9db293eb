import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";

const WISH = "metallb.io/loadBalancerIPs";
const KEY = "metallb.io/allow-shared-ip";

interface ApiService extends ApiObject {
  readonly spec?: {
    readonly type?: string;
    readonly ports?: readonly { readonly port: number; readonly protocol: string }[];
  };
}

/**
 * Assigns requested addresses to services, like MetalLB: services with one sharing key have an address together, on
 * separate ports; others wait until it is free. The proxy of the cluster brings connections to the pods.
 */
export class TestBalancer {
  readonly #api: KubernetesApi;
  readonly #stop = new AbortController();
  readonly #services = new Map<string, ApiService>();
  readonly #given = new Map<string, string>();
  readonly #over: Promise<void>;

  constructor(config: string) {
    this.#api = new KubernetesApi(readKubeconfig(config), { pauseMs: 50, maxPauseMs: 500 });
    this.#over = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#over;
    this.#api.close();
  }

  async #run(): Promise<void> {
    for await (const change of this.#api.watch<ApiService>(KIND.service, {}, this.#stop.signal)) {
      if (change.type === "all") {
        this.#services.clear();
        for (const service of change.objects) this.#services.set(keyOf(service), service);
      } else if (change.type === "set") this.#services.set(keyOf(change.object), change.object);
      else if (change.type === "removed") this.#services.delete(keyOf(change.object));
      for (const key of this.#given.keys()) if (!this.#services.has(key)) this.#given.delete(key);
      await this.#balance();
    }
  }

  async #balance(): Promise<void> {
    for (const [key, service] of this.#services) {
      const { name, namespace = "", annotations = {} } = service.metadata;
      const address = annotations[WISH];
      if (service.spec?.type !== "LoadBalancer" || address === undefined || this.#given.has(key)) continue;
      const holders = [...this.#services].filter(([other]) => this.#given.get(other) === address);
      if (!holders.every(([, other]) => canShare(service, other))) continue;
      this.#given.set(key, address);
      const object = { metadata: { name, namespace }, status: { loadBalancer: { ingress: [{ ip: address }] } } };
      // It may be gone by now.
      await this.#api.apply(KIND.service, object, { status: true }).catch(() => this.#given.delete(key));
    }
  }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function canShare(one: ApiService, other: ApiService): boolean {
  const ports = ({ spec }: ApiService) => (spec?.ports ?? []).map(({ port, protocol }) => `${port}/${protocol}`);
  const key = one.metadata.annotations?.[KEY];
  return (
    key !== undefined &&
    key === other.metadata.annotations?.[KEY] &&
    !ports(one).some((port) => ports(other).includes(port))
  );
}
