import type { Logger } from "../../../../util/index.ts";
import type { KubernetesApi } from "../api/api.ts";
import type { ApiObject } from "../api/objects.ts";
import { KIND } from "../objects/index.ts";
import { Followed } from "./followed.ts";

interface ApiEvent extends ApiObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

/** In the cluster's words. */
export interface Refusal {
  readonly at: number;
  readonly reason: string;
  readonly message: string;
}

/** The kind of object and the cluster's reasons that report refusals. */
export interface RefusalSource {
  readonly kind: string;
  readonly reasons: readonly [string, ...string[]];
}

/** Stateful sets that cannot make pods. */
export const REFUSED_PODS: RefusalSource = { kind: KIND.statefulSet.kind, reasons: ["FailedCreate"] };
/** Claims whose volume is not made. */
export const REFUSED_VOLUMES: RefusalSource = { kind: "PersistentVolumeClaim", reasons: ["ProvisioningFailed"] };
/** Services that get no address: by MetalLB, and by balancers of clouds. */
export const REFUSED_ADDRESSES: RefusalSource = {
  kind: KIND.service.kind,
  reasons: ["AllocationFailed", "SyncLoadBalancerFailed"],
};

/** Characters of a message that are kept. */
const MAX_MESSAGE = 1_000;
/** Objects with a kept reason; the cluster itself deletes its events after an hour. */
const MAX_KEPT = 10_000;

/**
 * Why objects of a kind do not get their resources. Deployments have a condition for it; for other objects only events
 * tell it, and they stay when the reason is gone.
 */
export class Refusals {
  readonly #last = new Map<string, Refusal>();
  readonly #told: RefusalSource;
  readonly #followed: Followed<ApiEvent>;

  constructor(source: { readonly api: KubernetesApi; readonly log: Logger }, told: RefusalSource) {
    this.#told = told;
    const [reason, ...others] = told.reasons;
    const fields = [`involvedObject.kind=${told.kind}`, ...(others.length === 0 ? [`reason=${reason}`] : [])];
    const selection = { fields: fields.join() };
    this.#followed = new Followed<ApiEvent>(
      source,
      { resource: KIND.event, selection },
      {
        all: (events) => {
          this.#last.clear();
          for (const event of events) this.#set(event);
        },
        set: (event) => this.#set(event),
        removed: (event) => this.#last.delete(keyOf(event)),
      },
    );
  }

  /** The last report about an object, by `namespace/name`. */
  last(key: string): Refusal | undefined {
    return this.#last.get(key);
  }

  /** It got what it needs after all. */
  forget(key: string): void {
    this.#last.delete(key);
  }

  stop(): Promise<void> {
    return this.#followed.stop();
  }

  #set(event: ApiEvent): void {
    // Servers in front of the cluster's own may know no such selection.
    if (event.involvedObject?.kind !== this.#told.kind || !this.#told.reasons.includes(event.reason ?? "")) return;
    const at = Date.parse(event.lastTimestamp ?? event.eventTime ?? "") || 0;
    const key = keyOf(event);
    const known = this.#last.get(key);
    if (known === undefined ? this.#last.size >= MAX_KEPT : known.at > at) return;
    this.#last.set(key, { at, reason: event.reason ?? "", message: (event.message ?? "").slice(0, MAX_MESSAGE) });
  }
}

function keyOf({ metadata, involvedObject }: ApiEvent): string {
  return `${involvedObject?.namespace ?? metadata.namespace}/${involvedObject?.name}`;
}
