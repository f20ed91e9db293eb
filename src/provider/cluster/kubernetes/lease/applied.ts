import { createHash } from "node:crypto";
import { errorText } from "../../../../util/index.ts";
import { ApiFailure } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { KIND, LABEL, type Wanted } from "../objects/index.ts";

/** Kinds whose leftover objects are deleted after an update, workloads first. */
const PRUNED = [KIND.deployment, KIND.statefulSet, KIND.service, KIND.policy];

/** Why an object cannot be applied yet. */
type Obstacle = (each: Wanted) => Promise<string | undefined>;

/** Applied objects of a lease's namespace, so that unchanged ones cost no call. */
export class Applied {
  readonly #context: DriverContext;
  readonly #namespace: string;
  readonly #hashes = new Map<string, string>();
  readonly #versions = new Map<string, unknown>();
  /** Names of the wanted objects when the others were last deleted. */
  #pruned: string | undefined;

  constructor(context: DriverContext, namespace: string) {
    this.#context = context;
    this.#namespace = namespace;
  }

  /** Everything is applied again at the next pass. */
  doubt(): void {
    this.#hashes.clear();
    this.#pruned = undefined;
  }

  /**
   * Whether the object still has the generation of its last application here: it counts changes of the wanted state.
   */
  isOwn(key: string, generation: unknown): boolean {
    return this.#versions.get(key) === generation;
  }

  /** Refused objects are tried again with another spec. */
  forgetFailures(): void {
    this.#pruned = undefined;
  }

  /**
   * Applies changed objects in order. A refused service does not stop the programs; any other failure ends the pass.
   * Resolves with the refused or waiting services and their reasons.
   */
  async bring(objects: readonly Wanted[], obstacle: Obstacle): Promise<Map<string, string>> {
    const failures = new Map<string, string>();
    for (const each of objects) {
      const [key, hash] = [keyOf(each), hashOf(each)];
      if (this.#hashes.get(key) === hash) continue;
      try {
        const reason = await obstacle(each);
        if (reason !== undefined) {
          failures.set(each.object.metadata.labels?.[LABEL.service] ?? "", reason);
          continue;
        }
        const { metadata } = await this.#context.api.apply(each.resource, each.object);
        this.#hashes.set(key, hash);
        this.#versions.set(key, metadata.generation);
      } catch (error) {
        const service = each.object.metadata.labels?.[LABEL.service];
        if (service === undefined || !isRefusal(error)) throw error;
        failures.set(service, refusalText(each, error));
      }
    }
    return failures;
  }

  /** Deletes the lease's objects that are no longer wanted. Touches only objects with its labels. */
  async prune(objects: readonly Wanted[]): Promise<void> {
    const keys = new Set(objects.map(keyOf));
    const state = [...keys].sort().join(" ");
    if (this.#pruned === state) return;
    const { api, provider, log } = this.#context;
    const labels = `${LABEL.provider}=${provider},${LABEL.lease}=${this.#namespace}`;
    for (const resource of PRUNED) {
      const { objects: found } = await api.list(resource, { namespace: this.#namespace, labels });
      for (const object of found) {
        const key = keyOf({ resource, object });
        const { name, uid } = object.metadata;
        if (keys.has(key) || uid === undefined) continue;
        log.info("removing an object that the lease no longer needs", { namespace: this.#namespace, object: key });
        await api.delete(resource, { namespace: this.#namespace, name }, { uid });
        this.#hashes.delete(key);
      }
    }
    this.#pruned = state;
  }
}

function keyOf({ resource, object }: Wanted): string {
  return `${resource.kind}/${object.metadata.name}`;
}

function hashOf({ object }: Wanted): string {
  return createHash("sha256").update(JSON.stringify(object)).digest("base64");
}

/** A cluster changes neither the volumes of a service nor their names while the service is there. */
const VOLUMES_STAY =
  "the cluster cannot change the volumes of an existing service: write them as they were, or make a new deployment";

/** The server understood the call and said no; anything else says nothing about the object. */
function isRefusal(error: unknown): error is ApiFailure {
  return error instanceof ApiFailure && error.kind !== "unreachable";
}

function refusalText({ object }: Wanted, error: ApiFailure): string {
  const taken = /\bnodePort: Invalid value: (\d+): provided port is already allocated/.exec(error.message)?.[1];
  if (taken !== undefined) return `port ${taken} of the cluster is in use by somebody else; deploy again for another`;
  if (/^status 422: StatefulSet\b.*updates to statefulset spec/.test(error.message)) return VOLUMES_STAY;
  return `${object.metadata.name}: ${errorText(error)}`;
}
