import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { ClusterIngress, RouteTarget, ServiceRoute } from "../../../src/provider/cluster/contract/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../src/wire/index.ts";

/** An ingress of the cluster's own: host name to the first replica, no more. */
export class MemoryIngress implements ClusterIngress {
  readonly ingress = "cluster";
  readonly #routes = new Map<string, RouteTarget>();
  readonly #server: Server;
  readonly #listening: Promise<unknown>;

  constructor(backends: (target: RouteTarget) => readonly string[]) {
    this.#server = createServer((incoming, outgoing) => {
      const target = this.#routes.get(incoming.headers.host?.replace(/:\d+$/, "") ?? "");
      const [address] = target === undefined ? [] : backends(target);
      if (address === undefined) return outgoing.writeHead(404).end();
      const { method, headers, url } = incoming;
      const forwarded = request(`http://${address}${url}`, { method, headers }, (answer) => {
        answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers));
      });
      forwarded.on("error", () => outgoing.writeHead(502).end());
      incoming.pipe(forwarded);
    });
    this.#listening = once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  async route(id: LeaseKey, services: readonly ServiceRoute[]): Promise<void> {
    await this.#listening;
    await this.unroute(id);
    for (const { target, hosts } of services) for (const host of hosts) this.#routes.set(host, target);
  }

  async unroute(id: LeaseKey): Promise<void> {
    const text = formatLeaseId(id);
    for (const [host, { lease }] of this.#routes) if (formatLeaseId(lease) === text) this.#routes.delete(host);
  }

  url(host: string): string {
    const address = this.#server.address();
    return `http://${host}:${typeof address === "object" ? address?.port : ""}/`;
  }

  async close(): Promise<void> {
    await this.#listening;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
