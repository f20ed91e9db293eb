import type { StoragePool } from "../contract/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import type { ApiObject } from "./api/objects.ts";
import { DEFAULT_CLASS, KIND } from "./objects/index.ts";
import { quantity } from "./view/quantity.ts";

/** How much the operator promises of a storage class, as an annotation of it: clusters do not report it themselves. */
export const CAPACITY_ANNOTATION = "svc.capacity";
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

/** Storage of classes that leases can claim. */
export async function storagePools(api: KubernetesApi): Promise<StoragePool[]> {
  const { objects } = await api.list(KIND.storageClass);
  return objects.flatMap(poolOf);
}

function poolOf({ metadata: { name, annotations = {} } }: ApiObject): StoragePool[] {
  const bytes = quantity(annotations[CAPACITY_ANNOTATION]);
  if (bytes === 0n) return [];
  const isDefault = annotations[IS_DEFAULT] === "true" && name !== DEFAULT_CLASS;
  return [{ classes: isDefault ? [name, DEFAULT_CLASS] : [name], bytes }];
}
