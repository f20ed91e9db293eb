import type { HttpOptions } from "../../../../sdl/index.ts";
import type { LeaseKey } from "../../../../wire/index.ts";
import { leaseNamespace, type ServiceRoute } from "../../contract/index.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { LABEL, leaseLabels } from "./names.ts";
import type { ObjectSettings } from "./settings.ts";

/** One object for each host name, under that name. */
export function ingressObjects(
  id: LeaseKey,
  { target, hosts }: ServiceRoute,
  port: number,
  settings: ObjectSettings,
): Wanted[] {
  const { ingressClass } = settings;
  const backend = { service: { name: target.service, port: { number: port } } };
  return hosts.map((host) =>
    wanted(
      KIND.ingress,
      {
        name: host,
        namespace: leaseNamespace(id),
        labels: { ...leaseLabels(settings.provider, id), [LABEL.service]: target.service },
        annotations: httpAnnotations(target.options),
      },
      {
        spec: {
          ...(ingressClass === undefined ? {} : { ingressClassName: ingressClass }),
          rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
        },
      },
    ),
  );
}

/** What the tenant wants of the proxy in front, in the words of the most common one. */
function httpAnnotations(options: HttpOptions): Record<string, string> {
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
  return Object.fromEntries(given.map(([name, value]) => [`nginx.ingress.kubernetes.io/${name}`, value]));
}

/** The proxy counts whole seconds. */
function seconds(milliseconds: number): string {
  return Math.ceil(milliseconds / 1_000).toString();
}

function nextCase(text: string): string {
  return /^\d/.test(text) ? `http_${text}` : text;
}
