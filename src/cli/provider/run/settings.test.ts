import { expect, it } from "vitest";
import { changes } from "../../../../test/support/changes.ts";
import { readDockerSettings } from "../../../provider/cluster/docker/settings.ts";
import { readKubernetesSettings } from "../../../provider/cluster/kubernetes/settings.ts";
import { CLUSTER_KINDS } from "../../../provider/index.ts";
import { settingReader } from "../../../util/index.ts";
import { flagSettings } from "../../command/flag-settings.ts";
import { resolveFlags } from "../../command/flags.ts";
import { BIDS, FEES } from "./bid-settings.ts";
import { readClusterSettings, readSettings } from "./config.ts";
import { CLUSTER, LEASES } from "./settings.ts";
import { PROVIDER_RUN_FLAGS } from "./spec.ts";

type Given = Readonly<Record<string, string | boolean>>;

function configured(given: Given): object {
  const flags = resolveFlags(PROVIDER_RUN_FLAGS, new Map(Object.entries(given)), { SVC_HOME: "/home/x" });
  const read = settingReader(flagSettings(flags));
  const drivers = { docker: readDockerSettings(read), kubernetes: readKubernetesSettings(read) };
  return { ...readSettings(flags), ...drivers, cluster: readClusterSettings(flags) };
}

const TLS = { "ingress-tls-listen-address": "127.0.0.1:443", "ingress-tls-certificates": "/a" };
const ACME = { "ingress-tls-listen-address": "127.0.0.1:443", "ingress-acme-directory": "https://a.example/d" };
const FLAGS = ["cpu", "endpoint", "ip", "memory", "storage", "tokenUsd"].map((name) => `pricing.flags.${name}`);
const SCALES = { "bid-price-cpu-scale": "1usd", "bid-price-token-usd": "1" };

/** A value of each setting other than the default, and the option that it changes; with its required flags. */
const GIVEN: Readonly<Record<string, readonly [text: string | true, places: readonly string[], beside?: Given]>> = {
  fees: ["7utoken", ["fee.amount"]],
  "gas-prices": ["7utoken", ["gasPrice"]],
  "cluster-ingress": ["provider", ["kubernetes.ingress"]],
  "cluster-ingress-class": ["tenants", ["kubernetes.ingressClass"]],
  "cluster-ingress-scheme": ["https", ["kubernetes.scheme"]],
  "cluster-ingress-issuer": ["letsencrypt", ["kubernetes.issuer"], { "cluster-ingress-scheme": "https" }],
  "cluster-gateway": [
    "gateways/tenants",
    ["kubernetes.gateway", "kubernetes.gateway.name", "kubernetes.gateway.namespace"],
  ],
  "cluster-public-hostname": ["a.example", ["cluster.publicHostname", "publicHostname"]],
  "cluster-node-port-quantity": ["7", ["nodePortQuantity"]],
  "cluster-node-port-range": ["7-77", ["cluster.nodePorts.first", "cluster.nodePorts.last"]],
  "cluster-node-port-address": ["127.0.0.7", ["docker.nodePortAddress"]],
  "cluster-node-ports": ["kernel", ["docker.kernelPorts"]],
  "cluster-leased-ips": ["192.0.2.7", ["kubernetes.leasedIps."]],
  "cluster-leased-ips-per-tenant": ["7", ["addressesPerOwner"]],
  "cluster-volume-sizes": ["none", ["docker.volumeSizeEnforcement"]],
  "cluster-stop-grace": ["7s", ["cluster.stopGraceMs"]],
  "cluster-local-images": [true, ["cluster.allowLocalImages"]],
  "cluster-allow-registries": ["a.example", ["docker.registries.allowed."]],
  "cluster-image-size": ["7Mi", ["docker.limits.imageBytes"]],
  "cluster-lease-images": ["7Mi", ["docker.limits.leaseImageBytes"]],
  "cluster-image-keep": ["7s", ["docker.timing.imageKeep"]],
  "cluster-user-namespaces": ["lease", ["cluster.userNamespaces"]],
  "cluster-runtime-class": ["runsc", ["cluster.runtime"]],
  "cluster-gpu-models": ["nvidia.com/gpu:t4", ["docker.gpus.models."]],
  "cluster-pod-security": ["baseline", ["kubernetes.podSecurity"]],
  "provider-least-free-disk": ["7Mi", ["leastFreeDisk"]],
  "overcommit-pct-cpu": ["7", ["cluster.overcommit.cpu", "overcommit.cpu"]],
  "overcommit-pct-mem": ["7", ["cluster.overcommit.memory", "overcommit.memory"]],
  "overcommit-pct-storage": ["7", ["cluster.overcommit.storage", "overcommit.storage"]],
  "inventory-resource-poll-period": ["7s", ["inventoryPollMs"]],
  "bid-price-strategy": ["randomRange", ["pricing.description", ...FLAGS]],
  "bid-price-token-usd": ["7", ["pricing.description", "pricing.flags.tokenUsd"], SCALES],
  "bid-price-cpu-scale": ["7", ["pricing.description", "pricing.flags.cpu"]],
  "bid-price-memory-scale": ["7", ["pricing.description", "pricing.flags.memory"]],
  "bid-price-storage-scale": ["7", ["pricing.description", "pricing.flags.storage"]],
  "bid-price-endpoint-scale": ["7", ["pricing.description", "pricing.flags.endpoint"]],
  "bid-price-ip-scale": ["7", ["pricing.description", "pricing.flags.ip"]],
  "bid-deposit": ["7utoken", ["bidDeposit.amount", "bidDeposit.denom"]],
  "minimum-balance": ["7utoken", ["minimumBalance.amount", "minimumBalance.denom"]],
  "bid-timeout": ["7s", ["bidTimeoutMs"]],
  "bid-share-per-tenant": ["7", ["bidShare"]],
  "deployment-ingress-domain": ["a.example", ["ingress.domain"]],
  "deployment-ingress-static-hosts": ["false", ["ingress.staticHosts"]],
  "deployment-blocked-hostnames": ["a.example", ["ingress.blockedHosts."]],
  "deployment-hostname-proof": ["first-come", ["ingress.hostnames.isProven"]],
  "deployment-hostname-resolvers": ["192.0.2.7", ["ingress.hostnames.resolvers."]],
  "deployment-hostname-quarantine": ["7s", ["ingress.hostnames.quarantineMs"]],
  ingress: ["external", ["ingress.routesFile"]],
  "ingress-routes-file": ["/b.yaml", ["ingress.routesFile"], { ingress: "external" }],
  "ingress-listen-address": ["127.0.0.7:7", ["ingress.host", "ingress.port"]],
  "ingress-tls-listen-address": ["127.0.0.7:7", ["ingress.tls.host", "ingress.tls.port"], TLS],
  "ingress-tls-certificates": ["/b", ["ingress.tls.certificates."], TLS],
  "ingress-tls-authority": ["/b", ["ingress.tls.authority"], TLS],
  "ingress-acme-directory": ["https://b.example/d", ["ingress.tls.acme.directory"], ACME],
  "ingress-acme-email": ["a@a.example", ["ingress.tls.acme.email"], ACME],
  "ingress-tls-redirect": [true, ["ingress.tls.redirect"], TLS],
  "ingress-connections-per-address": ["7", ["ingress.clients.connectionsPerAddress"]],
  "ingress-trusted-proxies": ["192.0.2.7", ["ingress.clients.trustedProxies."]],
  "ingress-forwarded-from": ["192.0.2.7", ["ingress.clients.forwardedFrom."]],
  "gateway-trusted-proxies": ["192.0.2.7", ["gateway.trustedProxies."]],
  "ingress-loopback-ports": [true, ["ingress.loopbackPorts"]],
  "gateway-listen-address": ["127.0.0.7:7", ["gateway.host", "gateway.port"]],
  "gateway-grpc-listen-address": ["127.0.0.7:7", ["gateway.grpc.host", "gateway.grpc.port"]],
  "metrics-listener": ["127.0.0.7:7", ["metrics.host", "metrics.port"]],
  net: ["https://b.example", ["net"]],
  "manifest-timeout": ["7s", ["manifestTimeoutMs"]],
  "monitor-max-retries": ["7", ["monitor.retries"]],
  "monitor-retry-period": ["7s", ["monitor.retryMs"]],
  "monitor-retry-period-jitter": ["7s", ["monitor.retryJitterMs"]],
  "monitor-healthcheck-period": ["7s", ["monitor.periodMs"]],
  "monitor-healthcheck-period-jitter": ["7s", ["monitor.periodJitterMs"]],
  "withdrawal-period": ["7s", ["withdrawalPeriodMs"]],
};

it.each(Object.entries(GIVEN))(
  "--%s given other than by default goes to its own place",
  (name, [value, places, beside = {}]) => {
    expect(changes(configured(beside), configured({ ...beside, [name]: value }))).toEqual(places);
  },
);

/** Settings that read files, run a program or look for a cluster have tests of their own. */
const ELSEWHERE = [
  ...CLUSTER_KINDS.flatMap(({ places }) => Object.values(places).map(({ name }) => name)),
  "provider-config",
  ...["bid-price-script-path", "bid-price-script-process-limit", "bid-price-script-timeout"],
];

it("has a value for every setting", () => {
  const drivers = CLUSTER_KINDS.flatMap(({ places, settings }) => [places, settings]);
  const names = [FEES, CLUSTER, BIDS, LEASES, ...drivers].flatMap((table) =>
    Object.values(table).map(({ name }) => name),
  );
  expect([...Object.keys(GIVEN), ...ELSEWHERE].sort()).toEqual(names.sort());
});
