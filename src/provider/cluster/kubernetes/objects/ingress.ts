import type { HttpOptions } from "../../../../sdl/index.ts";
import type { LeaseKey } from "../../../../wire/index.ts";
import { leaseNamespace, type ServiceRoute } from "../../contract/index.ts";
import type { GatewayName } from "../settings.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { certificateName, LABEL, leaseLabels } from "./names.ts";
import type { ObjectSettings } from "./settings.ts";

/** How routes are made; `endless` where the Gateway follows what routes say of the time of whole answers. */
type RouteSettings = ObjectSettings & { readonly endless?: boolean };

/** One object for each host name, under that name: of the kind that the cluster routes by. */
export function routeObjects(id: LeaseKey, route: ServiceRoute, port: number, settings: RouteSettings): Wanted[] {
  return settings.gateway === undefined
    ? ingressObjects(id, route, port, settings)
    : httpRouteObjects(id, route, port, { ...settings, gateway: settings.gateway });
}

/** Name, place and labels of the object of a host name. */
function metadataOf(id: LeaseKey, host: string, service: string, { provider }: ObjectSettings) {
  const labels = { ...leaseLabels(provider, id), [LABEL.service]: service };
  return { name: host, namespace: leaseNamespace(id), labels };
}

/**
 * Routes of the Gateway API, which has no fields for tenants' proxy options: its timeouts cover whole answers, while
 * tenants' cover silence in between. So they are turned off if the Gateway follows them, because its own would cut long
 * answers off; tenants' options are in annotations, for policies of the gateway's own kind.
 */
function httpRouteObjects(
  id: LeaseKey,
  { target, hosts }: ServiceRoute,
  port: number,
  settings: RouteSettings & { readonly gateway: GatewayName },
): Wanted[] {
  const { namespace, name } = settings.gateway;
  const rules = [
    {
      matches: [{ path: { type: "PathPrefix", value: "/" } }],
      backendRefs: [{ name: target.service, port }],
      ...(settings.endless === true ? { timeouts: { request: "0s" } } : {}),
    },
  ];
  return hosts.map((host) =>
    wanted(
      KIND.httpRoute,
      { ...metadataOf(id, host, target.service, settings), annotations: annotations(OWN_WORDS, target.options) },
      { spec: { parentRefs: [{ namespace, name }], hostnames: [host], rules } },
    ),
  );
}

export function ingressObjects(
  id: LeaseKey,
  { target, hosts }: ServiceRoute,
  port: number,
  settings: ObjectSettings,
): Wanted[] {
  const { ingressClass, ingressTls } = settings;
  const backend = { service: { name: target.service, port: { number: port } } };
  return hosts.map((host) =>
    wanted(
      KIND.ingress,
      {
        ...metadataOf(id, host, target.service, settings),
        annotations: { ...COUNTED, ...issued(ingressTls), ...annotations(NGINX_WORDS, target.options) },
      },
      {
        spec: {
          ...(ingressClass === undefined ? {} : { ingressClassName: ingressClass }),
          ...(ingressTls === undefined ? {} : { tls: [encrypted(host, ingressTls)] }),
          rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
        },
      },
    ),
  );
}

/** Annotation prefix of the most common proxy. */
const NGINX_WORDS = "nginx.ingress.kubernetes.io";
const OWN_WORDS = "http.svc.network";
/** Usual for that proxy. Others that read its words count the bytes of requests only where it is said. */
const COUNTED = { [`${NGINX_WORDS}/proxy-request-buffering`]: "on" };

type IngressTls = NonNullable<ObjectSettings["ingressTls"]>;

/** cert-manager makes a certificate for each object with this annotation, in the secret that the object names. */
function issued(tls: IngressTls | undefined): Record<string, string> {
  return tls?.issuer === undefined ? {} : { "cert-manager.io/cluster-issuer": tls.issuer };
}

function encrypted(host: string, { issuer }: IngressTls): object {
  return { hosts: [host], ...(issuer === undefined ? {} : { secretName: certificateName(host) }) };
}

/** The tenant's proxy options as annotations of the most common proxy. */
function annotations(prefix: string, options: HttpOptions): Record<string, string> {
  const { maxBodySize, readTimeout, sendTimeout, nextTries, nextTimeout, nextCases, proxyBufferSize = 0 } = options;
  const words: Readonly<Record<string, string | undefined>> = {
    "proxy-body-size": maxBodySize.toString(),
    "proxy-read-timeout": seconds(readTimeout),
    "proxy-send-timeout": seconds(sendTimeout),
    "proxy-next-upstream-tries": nextTries.toString(),
    "proxy-next-upstream-timeout": seconds(nextTimeout),
    "proxy-next-upstream": nextCases === undefined ? "error timeout" : nextCases.map(nextCase).join(" "),
    "proxy-buffer-size": proxyBufferSize === 0 ? undefined : proxyBufferSize.toString(),
  };
  const given = Object.entries(words).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [`${prefix}/${name}`, value]));
}

/** The proxy counts whole seconds. */
function seconds(milliseconds: number): string {
  return Math.ceil(milliseconds / 1_000).toString();
}

function nextCase(text: string): string {
  return /^\d/.test(text) ? `http_${text}` : text;
}
