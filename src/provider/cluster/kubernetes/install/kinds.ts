import type { Resource } from "../api/objects.ts";

const RBAC = "rbac.authorization.k8s.io/v1";

/** Kinds of objects that only an installation makes. */
export const INSTALL = {
  definition: {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
  },
  account: { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts" },
  clusterRole: { apiVersion: RBAC, kind: "ClusterRole", plural: "clusterroles" },
  clusterBinding: { apiVersion: RBAC, kind: "ClusterRoleBinding", plural: "clusterrolebindings" },
  role: { apiVersion: RBAC, kind: "Role", plural: "roles" },
  binding: { apiVersion: RBAC, kind: "RoleBinding", plural: "rolebindings" },
} as const satisfies Readonly<Record<string, Resource>>;
