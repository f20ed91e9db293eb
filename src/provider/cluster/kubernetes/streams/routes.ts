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

/** Characters of a note. */
const MAX_NOTE = 1_000;

/** Tells tenants, in the event logs of their leases, and the operator, which host names the gateway does not take, and why. */
export class RouteEvents {
  readonly #context: DriverContext;
  readonly #leaseOf: (namespace: string) => Lease | undefined;
  readonly #followed: Followed<ApiRoute>;
  /** What was told last of a route that is not taken. */
  #told = new Map<string, string>();

  constructor(context: DriverContext, leaseOf: (namespace: string) => Lease | undefined) {
    this.#context = context;
    this.#leaseOf = leaseOf;
    const selection = { labels: `${LABEL.provider}=${context.provider}` };
    this.#followed = new Followed<ApiRoute>(
      context,
      { resource: KIND.httpRoute, selection },
      {
        all: (routes) => {
          for (const route of routes) this.#take(route);
        },
        set: (route) => this.#take(route),
        removed: ({ metadata }) => this.#told.delete(metadata.uid ?? ""),
      },
    );
  }

  stop(): Promise<void> {
    return this.#followed.stop();
  }

  #take(route: ApiRoute): void {
    const { uid = "", name, namespace = "", labels = {} } = route.metadata;
    const lease = this.#leaseOf(namespace);
    const before = this.#told.get(uid);
    const refusal = refusalOf(route);
    if (lease === undefined || before === refusal) return;
    if (refusal === undefined) this.#told.delete(uid);
    else this.#told.set(uid, refusal);
    const service = labels[LABEL.service] ?? "";
    const note = refusal === undefined ? `${name} is taken now` : `${name} does not answer: ${refusal}`;
    if (refusal !== undefined)
      this.#context.log.warn("the gateway does not take a host name", { host: name, reason: refusal });
    const type = refusal === undefined ? "Normal" : "Warning";
    const object = { kind: KIND.httpRoute.kind, namespace, name };
    const event = { type, reason: refusal === undefined ? "Routed" : "NotRouted", note, service, object } as const;
    this.#context.events.add(namespace, { ...event, time: new Date().toISOString() });
  }
}

/** Why no listener takes the route; undefined where one does, or nobody has said anything yet. */
function refusalOf({ status }: ApiRoute): string | undefined {
  const said = (status?.parents ?? []).flatMap(({ conditions = [] }) =>
    conditions.filter(({ type }) => type === "Accepted"),
  );
  const refused = said.find((each) => each.status === "False");
  if (refused === undefined || said.some((each) => each.status === "True")) return undefined;
  const { reason = "", message = "" } = refused;
  return `the gateway refuses it (${[reason, message].filter(Boolean).join(": ")})`.slice(0, MAX_NOTE);
}
