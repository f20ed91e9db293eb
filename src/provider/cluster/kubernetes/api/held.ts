import type { KubernetesApi } from "./api.ts";
import { ApiFailure } from "./failure.ts";
import type { Resource } from "./objects.ts";

/** Exactly one object. */
interface Exact {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The rest of the object until it goes; servers also check objects that are being removed. */
  readonly rest?: object;
}

/** Removes an object that only this provider lets go: the server keeps it until its finalizer is gone. */
export async function letGo(
  api: KubernetesApi,
  resource: Resource,
  { namespace, name, uid, rest }: Exact,
): Promise<void> {
  await api.delete(resource, { namespace, name }, { uid });
  if ((await api.find(resource, { namespace, name }))?.metadata.uid !== uid) return;
  await api.apply(resource, { ...rest, metadata: { name, namespace, uid } }).catch((error: unknown) => {
    // It went meanwhile.
    if (!(error instanceof ApiFailure && (error.kind === "conflict" || error.kind === "notFound"))) throw error;
  });
}
