import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../../../util/index.ts";
import { type LeaseHealth, type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import { ApiFailure } from "../api/failure.ts";
import { letGo } from "../api/held.ts";
import type { ApiObject } from "../api/objects.ts";
import type { DriverContext } from "../context.ts";
import { KIND, LABEL, LEASES_SPACE, manifestObject } from "../objects/index.ts";
import { removeNamespace } from "./space.ts";

/** An operator's view of a lease, as far as it is read. */
export interface ApiManifest extends ApiObject {
  readonly spec?: { readonly closedAt?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** Characters of a message. */
const MAX_MESSAGE = 1_000;

/** All of this provider. */
async function listManifests({ api, provider }: DriverContext): Promise<readonly ApiManifest[]> {
  const labels = `${LABEL.provider}=${provider}`;
  return (await api.list<ApiManifest>(KIND.manifest, { namespace: LEASES_SPACE, labels })).objects;
}

/** Namespaces of leases that the chain is known to have ended. */
export async function closedManifests(context: DriverContext): Promise<ReadonlySet<string>> {
  const all = await shown(context, "manifests are not listed", () => listManifests(context));
  return new Set((all ?? []).filter(({ spec }) => spec?.closedAt !== undefined).map(({ metadata }) => metadata.name));
}

/** Notes at which height the lease ended, before anything of it is removed: the removal then continues after any crash. */
export function closeManifest(context: DriverContext, spec: LeaseSpec | undefined, closedAt: bigint | undefined) {
  return shown(context, "the end of a lease is not noted", async () => {
    if (spec === undefined || closedAt === undefined) return;
    const found = await findManifest(context, leaseNamespace(spec.id));
    const uid = found?.metadata.uid;
    if (uid === undefined) return;
    // Servers take no new finalizer where a deletion has begun; the one that it has stays, and the height is in the spec.
    const { object } = manifestObject(spec, context.objects, { closedAt, uid });
    const { deletionTimestamp, finalizers = [] } = found?.metadata ?? {};
    const metadata = deletionTimestamp === undefined ? object.metadata : { ...object.metadata, finalizers };
    await context.api.apply(KIND.manifest, { ...object, metadata });
  });
}

/** Removes the description of a lease without remains. */
export function releaseManifest(context: DriverContext, name: string) {
  return shown(context, "the description of a lease that has ended is not removed", async () => {
    const uid = (await findManifest(context, name))?.metadata.uid;
    if (uid === undefined) return;
    await letGo(context.api, KIND.manifest, { namespace: LEASES_SPACE, name, uid });
  });
}

/** The same for everything of this provider. */
export async function releaseAll(context: DriverContext): Promise<void> {
  const all = await shown(context, "manifests are not listed", () => listManifests(context));
  for (const { metadata } of all ?? []) await releaseManifest(context, metadata.name);
}

/** Ends what a daemon before this one had begun; it is known to be right, so it is repeated until it is done. */
export async function finishRemoval(
  context: DriverContext,
  name: string,
  { stopped, release }: { readonly stopped: () => boolean; readonly release: (name: string) => Promise<void> },
): Promise<void> {
  const { log, timing } = context;
  for (let wait = timing.retry; !stopped(); wait = Math.min(wait * 2, timing.maxRetry)) {
    try {
      await removeNamespace(context, name);
      await release(name);
      await releaseManifest(context, name);
      log.info("what was left of a lease that has ended is removed", { namespace: name });
      return;
    } catch (error) {
      log.warn("what is left of a lease cannot be removed yet", { namespace: name, err: errorText(error) });
      await sleep(wait, undefined, { ref: false });
    }
  }
}

async function findManifest({ api, provider }: DriverContext, name: string): Promise<ApiManifest | undefined> {
  const found = await api.find<ApiManifest>(KIND.manifest, { namespace: LEASES_SPACE, name });
  return found?.metadata.labels?.[LABEL.provider] === provider ? found : undefined;
}

/**
 * Descriptions are for people, and no lease depends on them: refusals by the cluster are logged. A cluster that does
 * not answer is a failure like any other.
 */
export async function shown<T>({ log }: DriverContext, what: string, task: () => Promise<T>): Promise<T | undefined> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.kind === "unreachable") throw error;
    log.warn(what, { err: errorText(error), remedy: "svc provider cluster install" });
    return undefined;
  }
}

/** Keeps the description of a lease like the lease, one call at a time and no more often than people can read. */
export class Manifest {
  readonly #context: DriverContext;
  readonly #lease: { readonly spec: LeaseSpec; status(): LeaseHealth };
  #spec = "";
  #status = "";
  #ready: Condition | undefined;
  #timer: NodeJS.Timeout | undefined;
  #task: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(context: DriverContext, lease: { readonly spec: LeaseSpec; status(): LeaseHealth }) {
    this.#context = context;
    this.#lease = lease;
  }

  /** Something about the lease is new. */
  moved(): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#task = this.#task.then(() => this.#write());
    }, this.#context.timing.report);
    this.#timer.unref();
  }

  /** Resolves when no call is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#task;
  }

  async #write(): Promise<void> {
    try {
      await shown(this.#context, "a lease is not described", () => this.#writeNew());
    } catch {
      // The cluster does not answer, which the watches report.
      this.moved();
    }
  }

  async #writeNew(): Promise<void> {
    const { api, objects } = this.#context;
    const { resource, object } = manifestObject(this.#lease.spec, objects);
    const spec = hashOf(object);
    if (!this.#stopped && spec !== this.#spec) {
      const found = await api.apply<ApiManifest>(resource, object);
      this.#ready ??= found.status?.conditions?.find(({ type }) => type === "Ready");
      this.#spec = spec;
    }
    const status = this.#observed();
    if (this.#stopped || status === undefined || hashOf(status) === this.#status) return;
    const { name, namespace = "" } = object.metadata;
    await api.apply(resource, { metadata: { name, namespace }, status } as ApiObject, { status: true });
    this.#status = hashOf(status);
  }

  /** Undefined while nothing is known. */
  #observed() {
    const { health, services } = this.#lease.status();
    if (health === "unknown") return undefined;
    const error = services.find((each) => each.error !== undefined)?.error;
    const ready = this.#condition(health === "ok", error?.slice(0, MAX_MESSAGE) ?? "");
    return {
      conditions: [ready],
      services: services.map(({ name, total, available, error: text }) => ({
        name,
        total,
        available,
        ...(text === undefined ? {} : { error: text.slice(0, MAX_MESSAGE) }),
      })),
    };
  }

  /** The time of a condition is its last change between true and false. */
  #condition(isReady: boolean, message: string): Condition {
    const status = isReady ? "True" : "False";
    const since = this.#ready?.status === status ? this.#ready.lastTransitionTime : undefined;
    const lastTransitionTime = since ?? `${new Date().toISOString().slice(0, 19)}Z`;
    const reason = isReady ? "ReplicasReady" : "ReplicasMissing";
    const observedGeneration = this.#lease.spec.generation;
    this.#ready = { type: "Ready", status, reason, message, lastTransitionTime, observedGeneration };
    return this.#ready;
  }
}

function hashOf(object: object): string {
  return createHash("sha256").update(JSON.stringify(object)).digest("base64");
}
