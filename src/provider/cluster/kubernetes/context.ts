import type { Logger, Semaphore } from "../../../util/index.ts";
import { type BackoffPolicy, DEFAULT_BACKOFF, type EventLog, type HostData } from "../shared/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import type { ObjectSettings } from "./objects/index.ts";
import type { ClusterView } from "./view/view.ts";

/** Shared parts of one driver. */
export interface DriverContext {
  readonly api: KubernetesApi;
  readonly objects: ObjectSettings;
  /** Value of the label of this provider's objects. */
  readonly provider: string;
  /** Folder of the driver on this machine; leases do not depend on its content. */
  readonly stateDir: string;
  readonly view: ClusterView;
  readonly events: EventLog;
  /** Data of nodes and network that tenants must not read. */
  readonly host: HostData;
  readonly log: Logger;
  readonly timing: DriverTiming;
  /** Limits how many leases are brought up to date at once. */
  readonly passes: Semaphore;
}

/** All in milliseconds. */
export interface DriverTiming {
  /** Before a pass that failed is repeated: the first time, doubling up to the most. */
  readonly retry: number;
  readonly maxRetry: number;
  /** Between looks at a namespace that is being removed, and after which the removal is given up for now. */
  readonly removalPoll: number;
  readonly removal: number;
  /** Between a change of a lease and its description: what people read need not follow every step. */
  readonly report: number;
  /** Interval of checks of the Gateway's features. */
  readonly gateway: number;
  /** Before another takes the place of a replica that nodes keep ending. */
  readonly backoff: BackoffPolicy;
}

export const DEFAULT_TIMING: DriverTiming = {
  retry: 500,
  maxRetry: 30_000,
  removalPoll: 500,
  removal: 300_000,
  report: 2_000,
  gateway: 60_000,
  backoff: DEFAULT_BACKOFF,
};
