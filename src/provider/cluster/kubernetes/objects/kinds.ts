import type { ApiObject, Resource } from "../api/objects.ts";

/** Group of the provider's own kinds of objects. */
export const GROUP = "svc.network";
export const GROUP_VERSION = "v1beta1";
/** Namespace of descriptions of leases: the provider's own kinds, for all leases. */
export const LEASES_SPACE = "lease";

/** Kinds of objects of leases, and kinds that the driver reads. */
export const KIND = {
  namespace: { apiVersion: "v1", kind: "Namespace", plural: "namespaces" },
  secret: { apiVersion: "v1", kind: "Secret", plural: "secrets" },
  quota: { apiVersion: "v1", kind: "ResourceQuota", plural: "resourcequotas" },
  service: { apiVersion: "v1", kind: "Service", plural: "services" },
  pod: { apiVersion: "v1", kind: "Pod", plural: "pods" },
  node: { apiVersion: "v1", kind: "Node", plural: "nodes" },
  storageClass: { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", plural: "storageclasses" },
  runtimeClass: { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", plural: "runtimeclasses" },
  event: { apiVersion: "v1", kind: "Event", plural: "events" },
  policy: { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", plural: "networkpolicies" },
  ingress: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", plural: "ingresses" },
  ingressClass: { apiVersion: "networking.k8s.io/v1", kind: "IngressClass", plural: "ingressclasses" },
  gateway: { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", plural: "gateways" },
  gatewayClass: { apiVersion: "gateway.networking.k8s.io/v1", kind: "GatewayClass", plural: "gatewayclasses" },
  httpRoute: { apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", plural: "httproutes" },
  deployment: { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments" },
  statefulSet: { apiVersion: "apps/v1", kind: "StatefulSet", plural: "statefulsets" },
  manifest: { apiVersion: `${GROUP}/${GROUP_VERSION}`, kind: "Manifest", plural: "manifests" },
  host: { apiVersion: `${GROUP}/${GROUP_VERSION}`, kind: "ProviderHost", plural: "providerhosts" },
  leasedIp: { apiVersion: `${GROUP}/${GROUP_VERSION}`, kind: "ProviderLeasedIP", plural: "providerleasedips" },
} as const satisfies Readonly<Record<string, Resource>>;

/** An object as it should be. */
export interface Wanted {
  readonly resource: Resource;
  readonly object: ApiObject;
}

/** Puts the parts of an object together that the API knows and this program does not read. */
export function wanted(resource: Resource, metadata: ApiObject["metadata"], rest: object): Wanted {
  return { resource, object: { ...rest, metadata } };
}
