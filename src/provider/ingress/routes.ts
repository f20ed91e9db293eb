import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { RouteTarget } from "../cluster/index.ts";
import { normalHost } from "../hostnames/index.ts";

/** Host name to service. The last `set` of a host wins; the registry decides who may set it. */
export class Routes {
  readonly #targets = new Map<string, RouteTarget>();
  /** Every route is here; until then a host name without one may still get it. */
  isWhole = true;

  set(host: string, target: RouteTarget): void {
    this.#targets.set(normalHost(host) ?? host.toLowerCase(), target);
  }

  remove(host: string): void {
    this.#targets.delete(normalHost(host) ?? host.toLowerCase());
  }

  /** Gives the lease exactly these routes; a route that stays is never missing in between. */
  replaceLease(id: LeaseKey, routes: ReadonlyMap<string, RouteTarget>): void {
    for (const [host, target] of routes) this.set(host, target);
    const kept = new Set([...routes.keys()].map((host) => normalHost(host) ?? host.toLowerCase()));
    const text = formatLeaseId(id);
    for (const [host, target] of this.#targets) {
      if (!kept.has(host) && formatLeaseId(target.lease) === text) this.#targets.delete(host);
    }
  }

  removeLease(id: LeaseKey): void {
    const text = formatLeaseId(id);
    for (const [host, target] of this.#targets) if (formatLeaseId(target.lease) === text) this.#targets.delete(host);
  }

  /** Takes a Host header as received. */
  find(header: string | undefined): RouteTarget | undefined {
    if (header === undefined) return undefined;
    // Most clients send the name in its normal form.
    const known = this.#targets.get(header);
    if (known !== undefined) return known;
    const host = normalHost(header);
    return host === undefined ? undefined : this.#targets.get(host);
  }

  hosts(): string[] {
    return [...this.#targets.keys()];
  }

  entries(): [host: string, target: RouteTarget][] {
    return [...this.#targets];
  }

  /** Status for a host name without a route. */
  get missing(): 404 | 503 {
    return this.isWhole ? 404 : 503;
  }
}

/** Text that identifies a target, without its options. */
export function targetKey(target: RouteTarget): string {
  return `${formatLeaseId(target.lease)}/${target.service}/${target.port}`;
}
