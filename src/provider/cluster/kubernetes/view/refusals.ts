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

interface Refusal {
  readonly at: number;
  readonly reason: string;
}

/** Of which kind of object and by which word of the cluster refusals are told. */
export interface RefusalSource {
  readonly kind: string;
  readonly reason: string;
}

/** Stateful sets that cannot make pods. */
export const REFUSED_PODS: RefusalSource = { kind: KIND.statefulSet.kind, reason: "FailedCreate" };
/** Claims whose volume nobody makes. */
export const REFUSED_VOLUMES: RefusalSource = { kind: "PersistentVolumeClaim", reason: "ProvisioningFailed" };

/** Characters of a reason that are kept. */
const MAX_REASON = 1_000;
/** Objects of which a reason is kept; the cluster itself forgets its events after an hour. */
const MAX_KEPT = 10_000;

/**
 * Why objects of a kind do not get what they need. Deployments have a condition for it; of stateful sets and claims only events
 * of the cluster tell it, and those stay when the reason is gone.
 */
export class Refusals {
  readonly #last = new Map<string, Refusal>();
  readonly #told: RefusalSource;
  readonly #followed: Followed<ApiEvent>;

  constructor(source: { readonly api: KubernetesApi; readonly log: Logger }, told: RefusalSource) {
    this.#told = told;
    const selection = { fields: `involvedObject.kind=${told.kind},reason=${told.reason}` };
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

  /** The last reason of an object, by `namespace/name`. */
  reason(key: string): string | undefined {
    return this.#last.get(key)?.reason;
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
    if (event.involvedObject?.kind !== this.#told.kind || event.reason !== this.#told.reason) return;
    const at = Date.parse(event.lastTimestamp ?? event.eventTime ?? "") || 0;
    const key = keyOf(event);
    const known = this.#last.get(key);
    if (known === undefined ? this.#last.size >= MAX_KEPT : known.at > at) return;
    this.#last.set(key, { at, reason: (event.message ?? "").slice(0, MAX_REASON) });
  }
}

function keyOf({ metadata, involvedObject }: ApiEvent): string {
  return `${involvedObject?.namespace ?? metadata.namespace}/${involvedObject?.name}`;
}
