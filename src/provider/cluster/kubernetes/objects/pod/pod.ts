import { createHash } from "node:crypto";
import type { ManifestService } from "../../../../../sdl/index.ts";
import { type GpuWish, isHttpExpose, type LeaseSpec, leaseNamespace, parseGpuWish } from "../../../contract/index.ts";
import { parseReference } from "../../../shared/index.ts";
import { credentialsName, GPU_LABEL, LABEL, leaseLabels, podSelector } from "../names.ts";
import type { ObjectSettings } from "../settings.ts";
import { limitsOf, requestsOf } from "./resources.ts";
import { hasPersistent, mountsOf, volumesOf } from "./volumes.ts";

/** The container of every pod. */
export const CONTAINER = "main";

/** All that is left to a tenant's root, where images may run as root: no raw sockets, no devices, no file capabilities. */
const ROOT_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"];

/** Group that volumes of programs other than root belong to, so that they can write there. */
const VOLUME_GROUP = 10_000;
/** Ports from 0 on are open to programs other than root; each pod has its own network. */
const OPEN_PORTS = { name: "net.ipv4.ip_unprivileged_port_start", value: "0" };

const PROBE = { periodSeconds: 2, timeoutSeconds: 1, failureThreshold: 3 } as const;

/** The pod template of a service's workload. `restarts` counts the tenant's restarts. */
export function podTemplate(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings, restarts: number) {
  const body = podSpec(spec, service, settings);
  const namespace = leaseNamespace(spec.id);
  return {
    metadata: {
      labels: {
        ...leaseLabels(settings.provider, spec.id),
        ...podSelector(namespace, service.name),
        [LABEL.config]: configOf(body),
      },
      // A change of it replaces the pods, one after the other.
      ...(restarts === 0 ? {} : { annotations: { [LABEL.restarts]: restarts.toString() } }),
    },
    spec: body,
  };
}

/** Identity of a service's pod template, except the number of restarts. */
export function podConfig(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings): string {
  return configOf(podSpec(spec, service, settings));
}

function configOf(body: object): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("hex").slice(0, 16);
}

function podSpec(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings) {
  const volumes = volumesOf(service);
  const wishes = gpuWishes(service);
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: Math.ceil(settings.stopGraceMs / 1_000) + lingerSeconds(service, settings),
    securityContext: podSecurity(settings),
    ...(settings.userNamespaces ? { hostUsers: false } : {}),
    ...(settings.runtime === undefined ? {} : { runtimeClassName: settings.runtime }),
    ...(service.credentials === null ? {} : { imagePullSecrets: [{ name: credentialsName(service.name) }] }),
    ...(wishes === undefined ? {} : gpuPlacement(wishes)),
    containers: [container(spec, service, settings)],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
}

function podSecurity({ podSecurity: standard }: ObjectSettings): object {
  const seccompProfile = { type: "RuntimeDefault" };
  if (standard === "baseline") return { seccompProfile };
  return {
    runAsNonRoot: true,
    fsGroup: VOLUME_GROUP,
    fsGroupChangePolicy: "OnRootMismatch",
    sysctls: [OPEN_PORTS],
    seccompProfile,
  };
}

function capabilities({ podSecurity: standard }: ObjectSettings): object {
  return { drop: ["ALL"], ...(standard === "baseline" ? { add: ROOT_CAPABILITIES } : {}) };
}

function container(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings) {
  const { full, local } = parseReference(service.image);
  const mounts = mountsOf(service);
  return {
    name: CONTAINER,
    image: full,
    imagePullPolicy: pullPolicy(local && settings.allowLocalImages),
    ...words("command", service.command),
    ...words("args", service.args),
    env: environment(spec, service, settings.publicHostname),
    resources: { limits: limitsOf(service), requests: requestsOf(service, settings.overcommit) },
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
    ...readiness(service),
    ...lifecycle(service, settings),
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: capabilities(settings),
    },
  };
}

/**
 * Nodes keep images after the lease that brought them. The registry says each time whether this lease may have it; what the node
 * has is not fetched again.
 */
function pullPolicy(isLocal: boolean): "Never" | "Always" {
  return isLocal ? "Never" : "Always";
}

function words(name: "command" | "args", list: readonly string[] | null): object {
  return list === null || list.length === 0 ? {} : { [name]: list.map(literal) };
}

/** Clusters replace `$(NAME)` by variables; this keeps tenants' texts unchanged. */
function literal(text: string): string {
  return text.replaceAll("$", () => "$$");
}

/** The lease's own variables, unless the tenant sets them. The last value of a repeated name counts. */
function environment(spec: LeaseSpec, { env }: ManifestService, publicHostname: string) {
  const { owner, dseq, gseq, oseq, provider } = spec.id;
  const values = new Map<string, string>([
    ["SVC_GROUP_SEQUENCE", gseq.toString()],
    ["SVC_DEPLOYMENT_SEQUENCE", dseq.toString()],
    ["SVC_ORDER_SEQUENCE", oseq.toString()],
    ["SVC_OWNER", owner],
    ["SVC_PROVIDER", provider],
    ["SVC_CLUSTER_PUBLIC_HOSTNAME", publicHostname],
  ]);
  for (const entry of env ?? []) {
    const at = entry.indexOf("=");
    values.set(at < 0 ? entry : entry.slice(0, at), at < 0 ? "" : entry.slice(at + 1));
  }
  return [...values].map(([name, value]) => ({ name, value: literal(value) }));
}

/**
 * A program with one port is ready when it accepts connections there. With several, one is enough, which no probe can
 * express: it is ready when it runs.
 */
function readiness(service: ManifestService): object {
  const ports = [...new Set(service.expose.filter(({ proto }) => proto === "TCP").map(({ port }) => port))];
  return ports.length === 1 ? { readinessProbe: { tcpSocket: { port: ports[0] }, ...PROBE } } : {};
}

/**
 * The program is asked to end only when no ingress sends requests to it any more: an ingress learns that a replica leaves no
 * sooner than the node, and later where it collects changes. A service whose data only one replica can have is without an
 * answer meanwhile anyway.
 */
function lingerSeconds(service: ManifestService, { lingerMs }: ObjectSettings): number {
  return service.expose.some(isHttpExpose) && !hasPersistent(service) ? Math.ceil(lingerMs / 1_000) : 0;
}

function lifecycle(service: ManifestService, settings: ObjectSettings): object {
  const seconds = lingerSeconds(service, settings);
  return seconds === 0 ? {} : { lifecycle: { preStop: { sleep: { seconds } } } };
}

function gpuWishes({ resources: { gpu } }: ManifestService): readonly GpuWish[] | undefined {
  if (BigInt(gpu.units.val) === 0n) return undefined;
  return (gpu.attributes ?? []).map(({ key }) => parseGpuWish(key));
}

/** On nodes that have one of the kinds; such nodes are often kept free of everything else. */
function gpuPlacement(wishes: readonly GpuWish[]): object {
  const terms = wishes.map(nodeTerm).filter(({ matchExpressions }) => matchExpressions.length > 0);
  const anywhere = terms.length === 0;
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  return {
    tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
    ...(anywhere ? {} : { affinity: { nodeAffinity: required } }),
  };
}

function nodeTerm({ vendor, model, ram, interface: bus }: GpuWish) {
  const wish: readonly (readonly [string, string | undefined])[] = [
    [GPU_LABEL.vendor, vendor],
    [GPU_LABEL.model, model === "*" ? undefined : model],
    [GPU_LABEL.ram, ram],
    [GPU_LABEL.interface, bus],
  ];
  return {
    matchExpressions: wish.flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, operator: "In", values: [value] }],
    ),
  };
}
