import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { AUTHORITY, openAuthority } from "../../src/provider/certificates/index.ts";
import type { HostCertificateText } from "../../src/provider/certificates/issuer.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { INSTALL } from "../../src/provider/cluster/kubernetes/install/kinds.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { Fixture } from "./fixture.ts";
import type { TestKubernetesNode } from "./kubernetes-node.ts";
import { waitFor } from "./wait.ts";

const GATEWAY_CLASS: Resource = {
  apiVersion: KIND.gateway.apiVersion,
  kind: "GatewayClass",
  plural: "gatewayclasses",
};
const KNOWN = { pollMs: 200 };
const CLASS = "test";
const SECRET = "certificate";

const FLAGS = [
  "--global.checknewversion=false",
  "--global.sendanonymoususage=false",
  "--entrypoints.web.address=:80",
  "--entrypoints.websecure.address=:443",
  "--providers.kubernetesingressnginx",
  "--providers.kubernetesgateway",
];

/** Where its programs and definitions are. */
export interface ControllerPrograms {
  readonly controller: string;
  /** Folder of the definitions of the Gateway API. */
  readonly definitions: string;
}

/** Names in the settings of a provider. */
export const INGRESS_CLASS = "tenants";
export const GATEWAY = { namespace: "gateways", name: "tenants" } as const;
/** A Gateway that lets no routes of other namespaces in: what operators forget. */
export const CLOSED_GATEWAY = { namespace: "gateways", name: "closed" } as const;
/** The name of the operator's certificate: one for all names below a domain. */
const SECURE_HOST = "*.secure.example.com";

/**
 * Starts a controller that serves Ingress objects of the class, and routes of the Gateway, at ports 80 and 443 of the
 * cluster's address. It has an operator's set-up: the class, the Gateway for all namespaces of providers, and a
 * certificate. It runs in the room of the node, and ends with it. Returns the certificate of the authority that signed
 * its own.
 */
export async function startController(
  fixture: Fixture,
  bed: TestKubernetesNode,
  programs: ControllerPrograms,
): Promise<string> {
  const folder = fixture.tempHome("controller");
  const authority = await openAuthority(folder);
  const certificate = await authority.issue(SECURE_HOST, new AbortController().signal);
  const api = new KubernetesApi(readKubeconfig(bed.config));
  try {
    await define(api, programs.definitions);
    await makeClasses(api, certificate);
  } finally {
    api.close();
  }
  // JSON is YAML too.
  const file = join(folder, "own.yaml");
  writeFileSync(file, JSON.stringify(ownCertificate(certificate)));
  const command = [programs.controller, ...FLAGS, `--providers.file.filename=${file}`];
  bed.control.run("controller", command, { KUBECONFIG: bed.config });
  return readFileSync(join(folder, AUTHORITY.certificate), "utf8");
}

/** The certificate for objects that name none. */
function ownCertificate({ chain, key }: HostCertificateText): object {
  return { tls: { stores: { default: { defaultCertificate: { certFile: chain, keyFile: key } } } } };
}

async function define(api: KubernetesApi, folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    for (const document of parseAllDocuments(readFileSync(join(folder, name), "utf8"))) {
      const object: (ApiObject & { readonly kind: string }) | null = document.toJS();
      if (object?.kind === INSTALL.definition.kind) await api.apply(INSTALL.definition, object);
    }
  }
}

async function makeClasses(api: KubernetesApi, { chain, key }: HostCertificateText): Promise<void> {
  const make = async (resource: Resource, metadata: ApiObject["metadata"], rest: object) => {
    const object: ApiObject = { metadata, ...rest };
    // A server takes objects of a new kind a moment after its definition.
    const isMade = () =>
      api.apply(resource, object).then(
        () => true,
        () => false,
      );
    await waitFor(isMade, `${resource.kind} ${metadata.name}`, KNOWN);
  };
  await make(KIND.ingressClass, { name: INGRESS_CLASS }, { spec: { controller: "k8s.io/ingress-nginx" } });
  await make(GATEWAY_CLASS, { name: CLASS }, { spec: { controllerName: "traefik.io/gateway-controller" } });
  await make(KIND.namespace, { name: GATEWAY.namespace }, {});
  const data = { "tls.crt": chain, "tls.key": key };
  const secret = { type: "kubernetes.io/tls", stringData: data };
  await make(KIND.secret, { namespace: GATEWAY.namespace, name: SECRET }, secret);
  await make(KIND.gateway, GATEWAY, { spec: { gatewayClassName: CLASS, listeners: listeners() } });
  const closed = [{ name: "plain", protocol: "HTTP", port: 80 }];
  await make(KIND.gateway, CLOSED_GATEWAY, { spec: { gatewayClassName: CLASS, listeners: closed } });
}

/** For all namespaces of providers. */
function listeners(): object[] {
  const selector = { matchExpressions: [{ key: "svc.provider", operator: "Exists" }] };
  const allowedRoutes = { namespaces: { from: "Selector", selector } };
  const tls = { mode: "Terminate", certificateRefs: [{ name: SECRET }] };
  return [
    { name: "plain", protocol: "HTTP", port: 80, allowedRoutes },
    { name: "secure", protocol: "HTTPS", port: 443, tls, allowedRoutes },
  ];
}
