import type { Logger } from "../../../../util/index.ts";
import type { KubernetesApi, Selection } from "../api/api.ts";
import type { ApiObject, Resource } from "../api/objects.ts";

export interface Follower<T> {
  /** All existing objects, replacing earlier reports. */
  all(objects: readonly T[]): void;
  set(object: T): void;
  removed(object: T): void;
}

/** Keeps a listener up to date about the objects of a kind, through interruptions. */
export class Followed<T extends ApiObject> {
  readonly #stop = new AbortController();
  readonly #first: Promise<void>;
  #over: Promise<void> = Promise.resolve();
  /** Whether the reports are up to date. */
  fresh = false;
  #wasLost = false;

  constructor(
    source: { api: KubernetesApi; log: Logger },
    what: { resource: Resource; selection?: Selection },
    to: Follower<T>,
  ) {
    let begun: () => void = () => {};
    this.#first = new Promise((resolve) => {
      begun = resolve;
    });
    this.#over = this.#run(source, what, to, begun);
  }

  /** Resolves when everything was told once. */
  get first(): Promise<void> {
    return this.#first;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#over;
  }

  async #run(
    { api, log }: { api: KubernetesApi; log: Logger },
    { resource, selection = {} }: { resource: Resource; selection?: Selection },
    to: Follower<T>,
    begun: () => void,
  ): Promise<void> {
    for await (const change of api.watch<T>(resource, selection, this.#stop.signal)) {
      if (change.type === "lost") {
        if (this.fresh) log.warn("watching the cluster failed", { what: resource.plural, err: change.failure.message });
        this.fresh = false;
        this.#wasLost = true;
      } else if (change.type === "all") {
        if (this.#wasLost) log.info("watching the cluster works again", { what: resource.plural });
        this.#wasLost = false;
        this.fresh = true;
        to.all(change.objects);
        begun();
      } else if (change.type === "set") to.set(change.object);
      else to.removed(change.object);
    }
  }
}
