import { chosenOptions, DEFAULT_HTTP_OPTIONS, type HttpOptions } from "../../../sdl/index.ts";
import type { RouteTarget } from "../../cluster/index.ts";
import { CONNECT_TIMEOUT_MS } from "../proxy/forward.ts";
import type { HostCertificate } from "../tls/files.ts";

/** Traefik ignores a file that has nothing, and would go on with its last routes: this service is always there. */
const NONE = "none";

type Section = Readonly<Record<string, object>>;

/** The parts of Traefik's dynamic configuration that routes need; entries are named after their host names. */
export const SECTIONS = ["routers", "services", "middlewares", "serversTransports"] as const;

/** An empty section is left out: Traefik refuses a file that has one. */
export type HttpSections = { readonly [S in (typeof SECTIONS)[number]]?: Section };

export interface DynamicConfiguration {
  readonly http: HttpSections;
  readonly tls?: { readonly certificates: readonly { readonly certFile: string; readonly keyFile: string }[] };
}

/** A host name and the addresses of its service's ready replicas. */
export interface PublishedRoute {
  readonly host: string;
  readonly target: RouteTarget;
  readonly backends: readonly string[];
}

/** Options of the tenant's own choice that Traefik does not keep, by their names in the deployment file. */
export function optionsNotKept(options: HttpOptions): string[] {
  // Traefik limits bodies only where it holds requests and answers as a whole, which would end streams.
  const isSmaller = options.maxBodySize < DEFAULT_HTTP_OPTIONS.maxBodySize;
  return chosenOptions(options).filter((name) => name === "send_timeout" || (name === "max_body_size" && isSmaller));
}

/** All routes as Traefik's file provider reads them; certificates stand in the text itself. */
export function dynamicConfiguration(
  routes: readonly PublishedRoute[],
  certificates: readonly HostCertificate[],
): DynamicConfiguration {
  const http = together([
    { services: { [NONE]: { loadBalancer: { passHostHeader: true } } } },
    ...routes.map(sectionsOf),
  ]);
  if (certificates.length === 0) return { http };
  return { http, tls: { certificates: certificates.map(({ chain, key }) => ({ certFile: chain, keyFile: key })) } };
}

/** All entries; of two with one name the later one. */
export function together(parts: readonly HttpSections[]): HttpSections {
  const sections = SECTIONS.map(
    (section) => [section, Object.assign({}, ...parts.map((part) => part[section]))] as const,
  );
  return Object.fromEntries(sections.filter(([, entries]) => Object.keys(entries).length > 0));
}

/** Calls of gRPC have a router and a service of their own, which speaks HTTP/2 with replicas. */
function sectionsOf({ host, target, backends }: PublishedRoute): HttpSections {
  const { options } = target;
  const grpc = `grpc/${host}`;
  const retry = retryOf(options, backends.length);
  const middlewares = retry === undefined ? {} : { middlewares: [host] };
  const rule = `Host(\`${host}\`)`;
  const service = (scheme: string) => {
    const servers = backends.map((address) => ({ url: `${scheme}://${address}` }));
    return { loadBalancer: { ...(servers.length === 0 ? {} : { servers }), serversTransport: host } };
  };
  return {
    routers: {
      [host]: { rule, service: host, ...middlewares },
      [grpc]: {
        rule: `${rule} && HeaderRegexp(\`Content-Type\`, \`(?i)^application/grpc([+;]|$)\`)`,
        service: grpc,
        ...middlewares,
      },
    },
    services: { [host]: service("http"), [grpc]: service("h2c") },
    ...(retry === undefined ? {} : { middlewares: { [host]: { retry } } }),
    serversTransports: {
      [host]: {
        forwardingTimeouts: {
          dialTimeout: `${CONNECT_TIMEOUT_MS}ms`,
          responseHeaderTimeout: `${options.readTimeout}ms`,
        },
      },
    },
  };
}

/** Each replica is asked once at most, as the built-in ingress does. */
function retryOf({ nextTries, nextTimeout, nextCases = ["error", "timeout"] }: HttpOptions, replicas: number) {
  const attempts = nextTries === 0 ? replicas : Math.min(nextTries, replicas);
  const status = nextCases.filter((text) => /^\d/.test(text));
  const isOnFailure = nextCases.includes("error") || nextCases.includes("timeout");
  if (attempts < 2 || nextCases.includes("off") || (status.length === 0 && !isOnFailure)) return undefined;
  return {
    attempts,
    ...(nextTimeout === 0 ? {} : { timeout: `${nextTimeout}ms` }),
    ...(status.length === 0 ? {} : { status }),
    ...(isOnFailure ? {} : { disableRetryOnNetworkError: true }),
  };
}
