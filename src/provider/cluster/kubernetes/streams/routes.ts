import type { LeaseHealth } from "../../contract/index.ts";
import type { ApiObject } from "../api/objects.ts";
import type { DriverContext } from "../context.ts";
import type { Lease } from "../lease/lease.ts";
import { KIND, LABEL } from "../objects/index.ts";
import { Followed } from "../view/followed.ts";

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface ApiRoute extends ApiObject {
  readonly status?: { readonly parents?: readonly { readonly conditions?: readonly Condition[] }[] };
}

/** A gateway's verdict on a route. */
interface Refused {
  readonly namespace: string;
  readonly service: string;
  /** For the tenant. */
  readonly note: string;
}

/** Characters of the gateway's own words in the log. */
const MAX_SAID = 1_000;
/** Conditions without which a route does not lead anywhere. */
const NEEDED = ["Accepted", "ResolvedRefs", "Programmed"];

/** The meaning of gateways' reasons for a tenant. The rest of their messages is about the operator's gateway. */
const MEANINGS: Readonly<Record<string, string>> = {
  NotAllowedByListeners: "it lets no host names of leases in; ask the provider",
  NoMatchingListenerHostname: "it serves no such name; ask the provider, or use the generated name",
  NoMatchingParent: "it has no listener for it; ask the provider",
  UnsupportedValue: "it does not support what the route asks for; ask the provider",
  BackendNotFound: "it does not find the service; ask the provider if that lasts",
  RefNotPermitted: "it may not lead to the service; ask the provider",
  Pending: "it has not taken it up yet; ask the provider if that lasts",
};

/**
 * Tells tenants, in the event logs and states of their leases, and the operator, which host names the gateway does not take,
 * and why.
 */
export class RouteEvents {
  readonly #context: DriverContext;
  readonly #leaseOf: (namespace: string) => Lease | undefined;
  readonly #followed: Followed<ApiRoute>;
  /** By the uid of their route, host names that are not taken. */
  readonly #refused = new Map<string, Refused>();

  constructor(context: DriverContext, leaseOf: (namespace: string) => Lease | undefined) {
    this.#context = context;
    this.#leaseOf = leaseOf;
    const selection = { labels: `${LABEL.provider}=${context.provider}` };
    this.#followed = new Followed<ApiRoute>(
      context,
      { resource: KIND.httpRoute, selection },
      {
        all: (routes) => {
          const present = new Set(routes.map(({ metadata }) => metadata.uid ?? ""));
          for (const uid of this.#refused.keys()) if (!present.has(uid)) this.#refused.delete(uid);
          for (const route of routes) this.#take(route);
        },
        set: (route) => this.#take(route),
        removed: ({ metadata }) => this.#refused.delete(metadata.uid ?? ""),
      },
    );
  }

  stop(): Promise<void> {
    return this.#followed.stop();
  }

  /** The health of a lease with the state of its host names; a running service may be unreachable. */
  within(namespace: string, health: LeaseHealth): LeaseHealth {
    const own = [...this.#refused.values()].filter((each) => each.namespace === namespace);
    if (own.length === 0) return health;
    const services = health.services.map((service) => {
      const note = own.find((each) => each.service === service.name)?.note;
      return note === undefined || service.error !== undefined ? service : { ...service, error: note };
    });
    return { ...health, services };
  }

  #take(route: ApiRoute): void {
    const { uid = "", name, namespace = "", labels = {} } = route.metadata;
    const before = this.#refused.get(uid)?.note;
    const refusal = refusalOf(route);
    const note = refusal === undefined ? undefined : `${name} does not answer: ${meaningOf(refusal)}`;
    if (this.#leaseOf(namespace) === undefined || before === note) return;
    const service = labels[LABEL.service] ?? "";
    if (refusal === undefined || note === undefined) this.#refused.delete(uid);
    else {
      this.#refused.set(uid, { namespace, service, note });
      const { reason = "", message = "" } = refusal;
      const said = `${reason}: ${message}`.slice(0, MAX_SAID);
      this.#context.log.warn("the gateway does not take a host name", { host: name, reason: said });
    }
    const event =
      note === undefined
        ? ({ type: "Normal", reason: "Routed", note: `${name} is taken now` } as const)
        : ({ type: "Warning", reason: "NotRouted", note } as const);
    const object = { kind: KIND.httpRoute.kind, namespace, name };
    this.#context.events.add(namespace, { ...event, service, object, time: new Date().toISOString() });
  }
}

/**
 * The obstacle between the route and its service; undefined if a gateway accepts the route, or none has answered yet.
 */
function refusalOf({ status }: ApiRoute): Condition | undefined {
  const faults = (status?.parents ?? []).map(({ conditions = [] }) =>
    conditions.find(({ type, status: is }) => NEEDED.includes(type) && is === "False"),
  );
  return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
}

function meaningOf({ reason = "" }: Condition): string {
  const meaning = MEANINGS[reason] ?? "ask the provider";
  return `the gateway refuses it (${/^[A-Za-z]{1,60}$/.test(reason) ? reason : "no reason"}): ${meaning}`;
}
