import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ApiAccess } from "../access/access.ts";
import { openChannels } from "./channels.ts";
import { ApiFailure, isNotFound } from "./failure.ts";
import { openForward } from "./forward.ts";
import { API_LIMITS, type ApiLimits } from "./limits.ts";
import { type ApiObject, isApiObject, lean, type Place, pathOf, type Resource } from "./objects.ts";
import { type Query, Transport } from "./transport.ts";
import { type Change, watchObjects } from "./watch.ts";

/** Which objects of a kind are meant. */
export interface Selection {
  readonly namespace?: string;
  /** `key=value`, with commas between several. */
  readonly labels?: string;
  readonly fields?: string;
}

export interface ObjectList<T> {
  readonly objects: readonly T[];
  /** A watch from this version on reports what changes. */
  readonly version: string;
}

/** Which lines of a container's log. */
export interface PodLogQuery {
  readonly container: string;
  readonly follow: boolean;
  /** Lines from the end, -1 for all. */
  readonly tail: number;
  /** RFC 3339. */
  readonly since?: string;
  readonly previous?: boolean;
  readonly signal?: AbortSignal;
}

export interface PodCommand {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
}

export interface ApplyOptions {
  readonly signal?: AbortSignal;
  /** Takes fields that another manager has set; true by default. */
  readonly force?: boolean;
  /** Sets only the observed status of the object, which must exist. */
  readonly status?: boolean;
}

/** Calls that an account may make. */
export interface AllowedCalls {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Other objects that a deletion removes, and the identity that the object must still have. */
export interface DeleteOptions {
  readonly uid?: string;
  readonly propagation?: "Foreground" | "Background" | "Orphan";
}

/** Who sets the fields that are applied. */
export const FIELD_MANAGER = "svc";
const APPLY = "application/apply-patch+yaml";
const RULES_REVIEW = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview" };
const RULES_PATH = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const PODS: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods" };

/** A driver's calls to an API server. All of them reject with an `ApiFailure`, and all may be repeated. */
export class KubernetesApi {
  readonly #transport: Transport;
  readonly #limits: ApiLimits;

  /** Makes no connection yet. */
  constructor(access: ApiAccess, limits: Partial<ApiLimits> = {}) {
    this.#limits = { ...API_LIMITS, ...limits };
    this.#transport = new Transport(access, this.#limits);
  }

  /** Version of the server: `v1.34.4`. */
  async version(): Promise<string> {
    const answer = await this.#transport.json({ path: "/version" });
    const { gitVersion }: { gitVersion?: unknown } = Object(answer);
    if (typeof gitVersion !== "string") throw new ApiFailure("refused", "the server does not report its version");
    return gitVersion;
  }

  /** The object, or undefined if the server itself says that it does not exist. */
  async find<T extends ApiObject>(resource: Resource, place: Required<Pick<Place, "name">> & Place) {
    try {
      return objectOf<T>(await this.#transport.json({ path: pathOf(resource, place) }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** All objects, page by page, as they were at one moment. Rejects where there are more than the limit. */
  async list<T extends ApiObject>(
    resource: Resource,
    selection: Selection = {},
    signal?: AbortSignal,
  ): Promise<ObjectList<T>> {
    const objects: T[] = [];
    for (let next: string | undefined = ""; ; ) {
      const query: Query = {
        ...queryOf(selection),
        limit: this.#limits.pageItems,
        continue: next === "" ? undefined : next,
      };
      const path = pathOf(resource, placeOf(selection));
      const page: Page<T> = pageOf(await this.#transport.json({ path, query, ...(signal ? { signal } : {}) }));
      for (const object of page.items) objects.push(object);
      if (objects.length > this.#limits.listItems) throw tooMany(resource, this.#limits.listItems);
      next = page.next;
      if (next === undefined) return { objects, version: page.version };
    }
  }

  /** The existing objects, and every change, until the signal. Never rejects: failures are reported and retried. */
  watch<T extends ApiObject>(
    resource: Resource,
    selection: Selection,
    signal: AbortSignal,
  ): AsyncGenerator<Change<T>, void> {
    const path = pathOf(resource, placeOf(selection));
    return watchObjects<T>({
      signal,
      limits: this.#limits,
      list: () => this.list<T>(resource, selection, signal),
      open: (version) =>
        this.#transport.stream({
          path,
          query: {
            ...queryOf(selection),
            watch: true,
            resourceVersion: version,
            allowWatchBookmarks: true,
            timeoutSeconds: this.#limits.watchSeconds,
          },
          signal,
        }),
    });
  }

  /** Creates the object, or sets these fields and removes the previously set ones that are missing now. */
  async apply<T extends ApiObject>(resource: Resource, object: T, options: ApplyOptions = {}): Promise<T & ApiObject> {
    const { name, namespace } = object.metadata;
    const { force = true, status = false, signal } = options;
    const path = pathOf(resource, { name, ...(namespace === undefined ? {} : { namespace }) });
    const answer = await this.#transport.json({
      method: "PATCH",
      path: status ? `${path}/status` : path,
      query: { fieldManager: FIELD_MANAGER, force },
      body: { ...object, apiVersion: resource.apiVersion, kind: resource.kind },
      contentType: APPLY,
      ...(signal ? { signal } : {}),
    });
    return objectOf<T & ApiObject>(answer);
  }

  /** Creates the object; rejects with a conflict where one of the name exists. */
  async create<T extends ApiObject>(resource: Resource, object: T): Promise<T & ApiObject> {
    const { apiVersion, kind } = resource;
    const { namespace } = object.metadata;
    const answer = await this.#transport.json({
      method: "POST",
      path: pathOf(resource, namespace === undefined ? {} : { namespace }),
      query: { fieldManager: FIELD_MANAGER },
      body: { ...object, apiVersion, kind },
    });
    return objectOf<T & ApiObject>(answer);
  }

  /**
   * Begins the removal of the object; an object with finalizers goes later. Resolves with false if it does not exist;
   * rejects with a conflict if there is another object of that name.
   */
  async delete(resource: Resource, place: Required<Pick<Place, "name">> & Place, options: DeleteOptions = {}) {
    const { uid, propagation: propagationPolicy = "Background" } = options;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy, ...preconditions };
    try {
      await this.#transport.json({ method: "DELETE", path: pathOf(resource, place), body });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Lines with the time in front (RFC 3339 and a space), read on demand. */
  podLog(place: Required<Place>, query: PodLogQuery): Promise<IncomingMessage> {
    const { container, follow, tail, since, previous, signal } = query;
    const tailLines = tail < 0 ? undefined : tail;
    return this.#transport.stream({
      path: `${pathOf(PODS, place)}/log`,
      query: { container, follow, timestamps: true, tailLines, sinceTime: since, previous },
      ...(signal ? { signal } : {}),
    });
  }

  /** Runs a command in a container of a pod. */
  async exec({ namespace, pod, container, command, tty, stdin }: PodCommand) {
    const path = `${pathOf(PODS, { namespace, name: pod })}/exec`;
    const query = { container, command, stdin, stdout: true, stderr: !tty, tty };
    const target = await this.#transport.socketTarget(path, query);
    return openChannels(target, { stdin, handshakeMs: this.#limits.callMs, pingMs: this.#limits.pingMs });
  }

  /** Rights of this account in a namespace; undefined if the cluster cannot list them. */
  async rules(namespace: string): Promise<readonly AllowedCalls[] | undefined> {
    const body = { ...RULES_REVIEW, spec: { namespace } };
    const answer = await this.#transport.json({ method: "POST", path: RULES_PATH, body });
    const { status }: { status?: unknown } = Object(answer);
    const { incomplete, resourceRules }: { incomplete?: unknown; resourceRules?: unknown } = Object(status);
    if (incomplete === true) return undefined;
    if (!Array.isArray(resourceRules)) throw new ApiFailure("refused", "the server does not report what is allowed");
    return resourceRules.map(allowedCalls);
  }

  /** Connects to a port of a pod, wherever the pod is. */
  async forward(place: Required<Place>, port: number): Promise<Duplex> {
    const target = await this.#transport.socketTarget(`${pathOf(PODS, place)}/portforward`, { ports: port });
    return openForward(target, { handshakeMs: this.#limits.callMs, pingMs: this.#limits.pingMs });
  }

  /** Ends all connections. */
  close(): void {
    this.#transport.close();
  }
}

function allowedCalls(rule: unknown): AllowedCalls {
  const { apiGroups, resources, verbs, resourceNames }: Record<keyof AllowedCalls, unknown> = Object(rule);
  return {
    apiGroups: texts(apiGroups),
    resources: texts(resources),
    verbs: texts(verbs),
    resourceNames: texts(resourceNames),
  };
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
}

function placeOf({ namespace }: Selection): Place {
  return namespace === undefined ? {} : { namespace };
}

function queryOf({ labels, fields }: Selection) {
  return { labelSelector: labels, fieldSelector: fields };
}

function objectOf<T extends ApiObject>(answer: unknown): T {
  if (!isApiObject(answer)) throw new ApiFailure("refused", "the answer is not an API object");
  return lean(answer) as T;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly version: string;
  readonly next: string | undefined;
}

function pageOf<T extends ApiObject>(answer: unknown): Page<T> {
  const { items, metadata }: { items?: unknown; metadata?: unknown } = Object(answer);
  const { resourceVersion, continue: next }: { resourceVersion?: unknown; continue?: unknown } = Object(metadata);
  if (typeof resourceVersion !== "string") throw new ApiFailure("refused", "the answer is not an API list");
  // An empty list has `null` in some versions.
  const list = items ?? [];
  if (!Array.isArray(list) || !list.every(isApiObject)) {
    throw new ApiFailure("refused", "the list has an item that is not an API object");
  }
  const more = typeof next === "string" && next !== "" ? next : undefined;
  return { items: list.map((each) => lean(each) as T), version: resourceVersion, next: more };
}

function tooMany({ plural }: Resource, limit: number): ApiFailure {
  return new ApiFailure("refused", `the cluster has more than ${limit} ${plural} of the kind looked for`);
}
