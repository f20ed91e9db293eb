/** A node's obstacle to a pod, by the missing part. */
export type Hindrance =
  | { readonly part: "runtime"; readonly name: string }
  | { readonly part: "volumes" }
  | { readonly part: "surroundings" };

const VOLUMES = ["FailedMount", "FailedAttachVolume", "FailedMapVolume"];

/** The obstacle in an event of a pod; undefined for other events. The node's own words are dropped. */
export function hindranceOf(reason: string, message: string): Hindrance | undefined {
  if (VOLUMES.includes(reason)) return { part: "volumes" };
  if (reason !== "FailedCreatePodSandBox") return undefined;
  const [, name] = /no runtime for "([^"]{1,253})" is configured/.exec(message) ?? [];
  return name === undefined ? { part: "surroundings" } : { part: "runtime", name };
}

/** Events of a pod that has its volumes and its surroundings. */
const PAST = ["Pulling", "Pulled", "Created", "Started"];

/** The last hindrance of each pod, by its uid. */
export class Hindrances {
  readonly #last = new Map<string, Hindrance>();

  take(uid: string, reason: string, message: string): void {
    if (PAST.includes(reason)) this.#last.delete(uid);
    const hindrance = hindranceOf(reason, message);
    if (hindrance !== undefined) this.#last.set(uid, hindrance);
  }

  of(uid: string): Hindrance | undefined {
    return this.#last.get(uid);
  }

  /** The pod is gone. */
  forget(uid: string): void {
    this.#last.delete(uid);
  }
}

/** In words for the tenant of the pod. */
export function hindranceText(hindrance: Hindrance): string {
  if (hindrance.part === "volumes") return "the node cannot mount its volumes yet; ask the provider if that lasts";
  if (hindrance.part === "surroundings") return "the node cannot start it yet; ask the provider if that lasts";
  return `the node lacks the runtime "${hindrance.name}" that the provider runs leases on; ask the provider`;
}
