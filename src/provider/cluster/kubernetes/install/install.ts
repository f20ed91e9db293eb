import { setTimeout as sleep } from "node:timers/promises";
import { clusterErrors, type InstalledObject } from "../../contract/index.ts";
import type { KubernetesApi } from "../api/api.ts";
import { ApiFailure } from "../api/failure.ts";
import type { ApiObject } from "../api/objects.ts";
import { KIND, LEASES_SPACE } from "../objects/index.ts";
import { INSTALL } from "./kinds.ts";
import { FORM, INSTALLED_FORM } from "./names.ts";
import { installObjects } from "./objects.ts";
import { CLUSTER_RULES, DEFINED, LEASES_RULES, lackingRights } from "./rights.ts";

interface ApiDefinition extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const ESTABLISHED_MS = 30_000;
const POLL_MS = 100;
/** Rights that a sentence names. */
const NAMED = 5;

/** Makes everything, or brings it up to date; the second time nothing changes. Needs an administrator of the cluster. */
export async function installOn(api: KubernetesApi, namespace: string): Promise<InstalledObject[]> {
  const results: InstalledObject[] = [];
  for (const { resource, object } of installObjects(namespace)) {
    const { name, namespace: where } = object.metadata;
    const place = where === undefined ? { name } : { name, namespace: where };
    const before = await api.find(resource, place);
    const { metadata } = await api.apply(resource, object);
    const isSame = before?.metadata.resourceVersion === metadata.resourceVersion;
    const result = before === undefined ? "created" : isSame ? "unchanged" : "changed";
    results.push({ kind: resource.kind, ...place, result });
  }
  for (const name of DEFINED) await established(api, name);
  return results;
}

/** A server takes objects of a new kind a moment after its definition. */
async function established(api: KubernetesApi, name: string): Promise<void> {
  for (let waited = 0; waited < ESTABLISHED_MS; waited += POLL_MS) {
    if (isEstablished(await api.find<ApiDefinition>(INSTALL.definition, { name }))) return;
    await sleep(POLL_MS);
  }
  throw clusterErrors.refused(`${name} is not served ${ESTABLISHED_MS / 1_000} s after it was defined`);
}

function isEstablished(found: ApiDefinition | undefined): boolean {
  return found?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") === true;
}

/** The missing part of the installation, in one sentence; undefined if it is complete. Rejects if it cannot be told. */
export async function lackingOn(api: KubernetesApi): Promise<string | undefined> {
  try {
    for (const name of DEFINED) {
      const found = await api.find(INSTALL.definition, { name });
      if (found === undefined) return `the cluster does not know ${name}`;
      if (found.metadata.annotations?.[FORM] !== INSTALLED_FORM)
        return `${name} was installed by another release of this program`;
    }
    if ((await api.find(KIND.namespace, { name: LEASES_SPACE })) === undefined)
      return `the cluster has no namespace "${LEASES_SPACE}"`;
    return await lackingAccess(api);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 403) return `the account lacks rights (${error.message})`;
    throw error;
  }
}

async function lackingAccess(api: KubernetesApi): Promise<string | undefined> {
  const allowed = await api.rules(LEASES_SPACE);
  // Some clusters decide with means of their own, and cannot list what they would allow.
  if (allowed === undefined) return undefined;
  const lacking = lackingRights([...CLUSTER_RULES, ...LEASES_RULES], allowed);
  if (lacking.length === 0) return undefined;
  const more = lacking.length > NAMED ? ` and ${lacking.length - NAMED} more` : "";
  return `the account may not ${lacking.slice(0, NAMED).join(", ")}${more}`;
}
