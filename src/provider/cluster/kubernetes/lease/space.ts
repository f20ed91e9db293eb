import { setTimeout as sleep } from "node:timers/promises";
import { formatLeaseId } from "../../../../wire/index.ts";
import { clusterErrors, type LeaseSpec } from "../../contract/index.ts";
import { ApiFailure } from "../api/failure.ts";
import type { ApiObject } from "../api/objects.ts";
import type { DriverContext } from "../context.ts";
import { KIND, LABEL, namespaceObject } from "../objects/index.ts";

interface ApiNamespace extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly status?: string; readonly message?: string }[] };
}

/** The namespace of the lease exists and is ours. */
export async function ensureNamespace({ api, objects, provider }: DriverContext, spec: LeaseSpec): Promise<void> {
  const { resource, object } = namespaceObject(spec, objects);
  const { name } = object.metadata;
  const found = await api.find(KIND.namespace, { name });
  if (found?.metadata.deletionTimestamp !== undefined) throw clusterErrors.closing(formatLeaseId(spec.id));
  if (found !== undefined && !isOurs(found, provider)) {
    throw clusterErrors.refused(`the namespace ${name} was not made by this provider; remove it`);
  }
  if (found === undefined || !hasLabels(found, object)) await api.apply(resource, object);
}

function isOurs({ metadata }: ApiObject, provider: string): boolean {
  return metadata.labels?.[LABEL.provider] === provider && metadata.labels[LABEL.lease] === metadata.name;
}

function hasLabels({ metadata: { labels = {} } }: ApiObject, wish: ApiObject): boolean {
  return Object.entries(wish.metadata.labels ?? {}).every(([key, value]) => labels[key] === value);
}

/**
 * Removes a namespace of ours with its contents; resolves when the server itself says that it is gone. A namespace of
 * another owner with this name stays.
 */
export async function removeNamespace({ api, provider, log, timing }: DriverContext, name: string): Promise<void> {
  let found = await api.find<ApiNamespace>(KIND.namespace, { name });
  if (found === undefined) return;
  const { uid } = found.metadata;
  if (!isOurs(found, provider) || uid === undefined) {
    log.warn("a namespace of that name was not made by this provider and stays", { namespace: name });
    return;
  }
  if (found.metadata.deletionTimestamp === undefined && !(await begun(api, name, uid))) return;
  for (let waited = 0; waited < timing.removal; waited += timing.removalPoll) {
    found = await api.find<ApiNamespace>(KIND.namespace, { name });
    // Another namespace of the same name has another owner.
    if (found === undefined || found.metadata.uid !== uid) return;
    await sleep(timing.removalPoll);
  }
  const why =
    found?.status?.conditions?.find(({ status }) => status === "True")?.message ?? "the cluster gives no reason";
  throw clusterErrors.refused(`the namespace ${name} is still being removed: ${why}`);
}

/** False where another one took its place meanwhile. */
async function begun(api: DriverContext["api"], name: string, uid: string): Promise<boolean> {
  try {
    return await api.delete(KIND.namespace, { name }, { uid });
  } catch (error) {
    if (error instanceof ApiFailure && error.kind === "conflict") return removalStands(api, name, uid);
    throw error;
  }
}

/** The server also reports a conflict for one that is already being removed. */
async function removalStands(api: DriverContext["api"], name: string, uid: string): Promise<boolean> {
  return (await api.find(KIND.namespace, { name }))?.metadata.uid === uid;
}
