import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readDockerSettings } from "../../../provider/cluster/docker/settings.ts";
import { readKubernetesSettings } from "../../../provider/cluster/kubernetes/settings.ts";
import { DEC_ONE, parseDec, settingReader } from "../../../util/index.ts";
import { networkTexts } from "../../../util/servers/index.ts";
import { flagSettings } from "../../command/flag-settings.ts";
import { type Environment, resolveFlags } from "../../command/flags.ts";
import { chosenCluster } from "./cluster.ts";
import { readClusterSettings, readSettings } from "./config.ts";
import { PROVIDER_RUN_FLAGS } from "./spec.ts";

type Given = Record<string, string | boolean>;

const flags = (given: Given, env: Environment = {}) =>
  resolveFlags(PROVIDER_RUN_FLAGS, new Map(Object.entries(given)), { SVC_HOME: "/home/x", ...env });
const settings = (given: Given = {}, env: Environment = {}) => readSettings(flags(given, env));

const reader = (given: Given) => settingReader(flagSettings(flags(given)));
const docker = (given: Given) => readDockerSettings(reader(given));
const kubernetes = (given: Given) => readKubernetesSettings(reader(given));

const COIN = { denom: "utoken" };

describe("the settings of a provider", () => {
  test("without flags are the documented ones", () => {
    const { fee, gasPrice, bidDeposit, gateway, nodePortQuantity, ingress, pricing, publicHostname } = settings();
    expect({ fee, gasPrice, bidDeposit }).toEqual({
      fee: { ...COIN, amount: 1000n },
      gasPrice: parseDec("0.0025"),
      bidDeposit: undefined,
    });
    expect(gateway).toMatchObject({ host: "0.0.0.0", port: 8443 });
    expect(nodePortQuantity).toBe(1000);
    expect(readClusterSettings(flags({})).nodePorts).toEqual({ first: 30_000, last: 32_767 });
    expect(ingress).toMatchObject({ domain: "localhost", staticHosts: true, host: "0.0.0.0", port: 80 });
    expect(pricing.description).toMatch(/^scale: cpu 0\.001\/mcpu, memory 0\.0001\/MiB, .*endpoint 0\.01/);
    expect(publicHostname).toBe("localhost");
  });

  test("without flags give up, look again and collect at the documented times", () => {
    const { bidTimeoutMs, bidShare, manifestTimeoutMs, withdrawalPeriodMs, inventoryPollMs, monitor, overcommit } =
      settings();
    expect({ bidTimeoutMs, bidShare, manifestTimeoutMs, withdrawalPeriodMs, inventoryPollMs }).toEqual({
      bidTimeoutMs: 300_000,
      bidShare: 25,
      manifestTimeoutMs: 300_000,
      withdrawalPeriodMs: 86_400_000,
      inventoryPollMs: 30_000,
    });
    expect(monitor).toEqual({
      retries: 40,
      retryMs: 4000,
      retryJitterMs: 15_000,
      periodMs: 10_000,
      periodJitterMs: 5000,
    });
    expect(overcommit).toEqual({ cpu: 0, memory: 0, storage: 0 });
  });

  test("are those of the flags", () => {
    const given = settings({
      fees: "2000utoken",
      "bid-deposit": "5000000utoken",
      "bid-price-cpu-scale": "0.5",
      "bid-price-memory-scale": "0.25",
      "bid-price-storage-scale": "0.125",
      "bid-price-endpoint-scale": "3",
      "cluster-node-port-quantity": "7",
      "cluster-public-hostname": "cluster.example",
      "deployment-ingress-domain": "apps.example",
      "deployment-ingress-static-hosts": false,
    });
    expect(given).toMatchObject({
      stateDir: "/home/x/provider",
      fee: { ...COIN, amount: 2000n },
      bidDeposit: { ...COIN, amount: 5_000_000n },
      nodePortQuantity: 7,
      publicHostname: "cluster.example",
      ingress: { domain: "apps.example", staticHosts: false },
    });
    expect(given.pricing.description).toMatch(
      /^scale: cpu 0\.5\/mcpu, memory 0\.25\/MiB, ephemeral storage 0\.125\/MiB.* endpoint 3,/,
    );
  });

  test("of tenants' own host names", () => {
    expect(settings({}).ingress.hostnames).toEqual({ isProven: true, resolvers: [], quarantineMs: 86_400_000 });
    const given = {
      "deployment-hostname-proof": "first-come",
      "deployment-hostname-resolvers": "192.0.2.53,[2001:db8::53]:5353,192.0.2.54:53",
      "deployment-hostname-quarantine": "0s",
    };
    expect(settings(given).ingress.hostnames).toEqual({
      isProven: false,
      resolvers: ["192.0.2.53", "[2001:db8::53]:5353", "192.0.2.54:53"],
      quarantineMs: 0,
    });
    for (const wrong of ["dns.example.com", "192.0.2.53:0", "192.0.2.53:65536", "[192.0.2.53", "1.2.3"]) {
      expect(() => settings({ "deployment-hostname-resolvers": wrong })).toThrow(/addresses such as 192\.0\.2\.53/);
    }
    expect(() => settings({ "deployment-hostname-quarantine": "5" })).toThrow(/a duration/);
    expect(() => settings({ "deployment-hostname-proof": "never" })).toThrow(/require/);
  });

  test("of host names that tenants cannot take", () => {
    const names = ["bank.example", ".Other.example", "*.wide.example", "final.example.", "xn--bcher-kva.example"];
    expect(settings({ "deployment-blocked-hostnames": names.join(", ") }).ingress.blockedHosts).toEqual(names);
    expect(settings({}).ingress.blockedHosts).toEqual([]);
    for (const wrong of [
      "https://bank.example",
      "bank.example:443",
      "bank.example/x",
      "*bank.example",
      "a.*.example",
      "b\u00fccher.example",
      "bank example",
      "..bank.example",
      ".",
    ]) {
      const given = `fine.example,${wrong}`;
      const sentence = `--deployment-blocked-hostnames takes host names such as www.example.com, or .example.com for a whole domain, not ${JSON.stringify(wrong)}`;
      expect(() => settings({ "deployment-blocked-hostnames": given }), wrong).toThrow(sentence);
    }
  });

  test.each([
    ["0.001,=1", "a name before"],
    ["0.001,be ta=1", "a name before"],
    ["0.001,beta1=1,beta1=2", '"beta1" twice'],
    ["1,2", '"ephemeral" twice'],
  ])("of storage prices: %s is refused", (text, sentence) => {
    expect(() => settings({ "bid-price-storage-scale": text })).toThrow(sentence);
  });

  test.each([
    ["deployment-hostname-resolvers", "192.0.2.53,dns.example.com", '"dns.example.com"'],
    ["ingress-trusted-proxies", "10.0.0.7,proxy.example.com", '"proxy.example.com"'],
    ["ingress-forwarded-from", "10.0.0.7,10.0.0.0/33", '"10.0.0.0/33"'],
  ])("of lists name the word that is wrong: --%s %s", (name, text, word) => {
    const given = () => settings({ [name]: text });
    expect(given).toThrow(word);
    expect(given).not.toThrow(text);
  });

  test("of proxies in front", () => {
    expect(settings({}).ingress.clients.forwardedFrom.rules).toEqual([]);
    const { forwardedFrom } = settings({ "ingress-forwarded-from": "10.0.0.7,fd00::/8" }).ingress.clients;
    expect(networkTexts(forwardedFrom)).toEqual(["10.0.0.7", "fd00::/8"]);
    expect(() => settings({ "ingress-forwarded-from": "proxy.example" })).toThrow(/neither an address nor a network/);
  });

  test("refuse an external ingress beside a cluster that has its own", () => {
    const given = { ingress: "external", cluster: "kubernetes" };
    expect(() => chosenCluster(flags(given))).toThrow("--ingress external cannot be used with --cluster kubernetes");
    expect(chosenCluster(flags({ ingress: "external" })).capabilities.carriesTraffic).toBe(false);
  });

  test("name the file of an external ingress, and refuse what only the built-in one does", () => {
    expect(settings({}).ingress).not.toHaveProperty("routesFile");
    const external = { ingress: "external" };
    expect(settings(external).ingress.routesFile).toBe("/home/x/provider/ingress/routes.yaml");
    expect(settings({ ...external, "ingress-routes-file": "/srv/routes.yml" }).ingress.routesFile).toBe(
      "/srv/routes.yml",
    );
    expect(() => settings({ ...external, "ingress-routes-file": "/srv/routes.json" })).toThrow("is not a YAML file");
    expect(() => settings({ "ingress-routes-file": "/srv/routes.yaml" })).toThrow("needs --ingress external");
    expect(() => settings({ ingress: "none" })).toThrow(/builtin/);
    const others = {
      "ingress-acme-directory": "https://acme.example/directory",
      "ingress-tls-redirect": true,
      "ingress-loopback-ports": true,
    };
    for (const [name, value] of Object.entries(others))
      expect(() => settings({ ...external, [name]: value })).toThrow(
        `--${name} cannot be used with --ingress external`,
      );
  });

  test("of TLS", () => {
    expect(settings({}).ingress.tls).toBeUndefined();
    const given = { "ingress-tls-listen-address": ":443", "ingress-tls-certificates": "/etc/one,/etc/two" };
    expect(settings({ ...given, "ingress-tls-redirect": true }).ingress.tls).toEqual({
      host: "0.0.0.0",
      port: 443,
      certificates: ["/etc/one", "/etc/two"],
      redirect: true,
    });
    const own = { "ingress-tls-listen-address": "127.0.0.1:8444", "ingress-tls-authority": "/srv/ca" };
    expect(settings(own).ingress.tls).toMatchObject({ certificates: [], authority: "/srv/ca", redirect: false });
    const directory = "https://acme.example/directory";
    const acme = { "ingress-tls-listen-address": ":443", "ingress-acme-directory": directory };
    expect(settings(acme).ingress.tls).toMatchObject({ certificates: [], acme: { directory } });
    const email = { "ingress-acme-email": "operator@example.com" };
    expect(settings({ ...acme, ...email }).ingress.tls?.acme).toEqual({ directory, email: "operator@example.com" });
    expect(() => settings({ ...own, ...email })).toThrow("--ingress-acme-email needs --ingress-acme-directory");
    expect(() => settings({ ...acme, "ingress-tls-authority": "/srv/ca" })).toThrow("cannot be used together");
    expect(() => settings({ ...acme, "ingress-acme-directory": "http://acme.example/" })).toThrow("https://");
    expect(() => settings({ ...acme, "ingress-acme-email": "nobody" })).toThrow("operator@example.com");
    expect(() => settings({ "ingress-tls-listen-address": ":443" })).toThrow("needs certificates");
    expect(() => settings({ "ingress-tls-authority": "/srv/ca" })).toThrow("need --ingress-tls-listen-address");
    expect(() => settings({ "ingress-tls-redirect": true })).toThrow("need --ingress-tls-listen-address");
  });

  test("of prices in dollars", () => {
    const prices = { "bid-price-cpu-scale": "4.383usd", "bid-price-token-usd": "0.5" };
    expect(settings(prices).pricing.description).toMatch(/^scale: cpu 0\.02\/mcpu,/);
    expect(() => settings({ "bid-price-cpu-scale": "4usd" })).toThrow(/--bid-price-token-usd/);
  });

  test("of the balance to be kept", () => {
    expect(settings({}).minimumBalance).toBeUndefined();
    expect(settings({ "minimum-balance": "10000000utoken" }).minimumBalance).toEqual({ ...COIN, amount: 10_000_000n });
  });

  test("of metrics", () => {
    expect(settings({}).metrics).toBeUndefined();
    expect(settings({ "metrics-listener": "127.0.0.1:9100" }).metrics).toEqual({ host: "127.0.0.1", port: 9100 });
    expect(settings({ "metrics-listener": ":9100" }).metrics).toEqual({ host: "127.0.0.1", port: 9100 });
    expect(settings({ "metrics-listener": "0.0.0.0:9100" }).metrics).toEqual({ host: "0.0.0.0", port: 9100 });
    expect(() => settings({ "metrics-listener": "9100" })).toThrow(/<host>:<port>/);
  });

  test("of the status over gRPC", () => {
    expect(settings({}).gateway.grpc).toBeUndefined();
    const given = { "gateway-grpc-listen-address": "0.0.0.0:8444" };
    expect(settings(given).gateway.grpc).toEqual({ host: "0.0.0.0", port: 8444 });
    expect(() => settings({ "gateway-grpc-listen-address": "8444" })).toThrow(/<host>:<port>/);
  });

  test("of the disk", () => {
    expect(settings({}).leastFreeDisk).toBe(512n << 20n);
    expect(settings({ "provider-least-free-disk": "2Gi" }).leastFreeDisk).toBe(2n << 30n);
    for (const wrong of ["2", "2GB", "-1Gi", "1.5Gi", "Mi"]) {
      expect(() => settings({ "provider-least-free-disk": wrong }), wrong).toThrow(/a size such as 512Mi/);
    }
  });

  test("of leases on any cluster", () => {
    expect(readClusterSettings(flags({}))).toEqual({
      stateDir: "/home/x/provider",
      allowLocalImages: false,
      publicHostname: "localhost",
      nodePorts: { first: 30_000, last: 32_767 },
      userNamespaces: false,
      stopGraceMs: 30_000,
      overcommit: { cpu: 0, memory: 0, storage: 0 },
    });
    expect(readClusterSettings(flags({ "cluster-user-namespaces": "lease" })).userNamespaces).toBe(true);
    expect(() => readClusterSettings(flags({ "cluster-user-namespaces": "all" }))).toThrow(/none.*lease/);
    const given = { "cluster-stop-grace": "1500ms", "cluster-local-images": true, "cluster-runtime-class": "runsc" };
    expect(readClusterSettings(flags({ ...given, "cluster-public-hostname": "cluster.example" }))).toMatchObject({
      allowLocalImages: true,
      publicHostname: "cluster.example",
      stopGraceMs: 1500,
      runtime: "runsc",
    });
  });

  test("of a container engine", () => {
    expect(docker({})).toEqual({
      nodePortAddress: "0.0.0.0",
      kernelPorts: false,
      volumeSizeEnforcement: "loop",
      gpus: { models: new Map() },
      registries: { allowed: [] },
      limits: { imageBytes: 16n << 30n, leaseImageBytes: 32n << 30n },
      timing: { imageKeep: 86_400_000 },
    });
    expect(docker({ "cluster-node-port-address": "127.0.0.1" }).nodePortAddress).toBe("127.0.0.1");
    expect(docker({ "cluster-node-ports": "kernel" }).kernelPorts).toBe(true);
    expect(docker({ "cluster-volume-sizes": "none" }).volumeSizeEnforcement).toBe("none");
    expect(() => docker({ "cluster-node-ports": "nft" })).toThrow(/process.*kernel/);
    expect(() => docker({ "cluster-node-port-address": "localhost" })).toThrow(/an address such as/);
  });

  test("of Kubernetes", () => {
    expect(kubernetes({})).toEqual({
      ingress: "cluster",
      ingressClass: undefined,
      scheme: "http",
      issuer: undefined,
      gateway: undefined,
      leasedIps: [],
      podSecurity: "restricted",
    });
    const ingress = { "cluster-ingress": "provider", "cluster-ingress-class": "tenants" };
    expect(kubernetes(ingress)).toMatchObject({ ingress: "provider", ingressClass: "tenants" });
    const gateway = { namespace: "gateways", name: "tenants" };
    expect(kubernetes({ "cluster-gateway": "gateways/tenants" })).toMatchObject({ gateway });
    expect(kubernetes({ "cluster-ingress-scheme": "https" })).toMatchObject({ scheme: "https", issuer: undefined });
    const issuer = "letsencrypt";
    expect(kubernetes({ "cluster-ingress-issuer": issuer })).toMatchObject({ scheme: "https", issuer });
    expect(kubernetes({ "cluster-pod-security": "baseline" }).podSecurity).toBe("baseline");
    expect(() => kubernetes({ "cluster-ingress-scheme": "ftp" })).toThrow(/http.*https/);
    for (const wrong of ["tenants", "/tenants", "a/b/c", "Gateways/tenants", `a/${"b".repeat(64)}`]) {
      expect(() => kubernetes({ "cluster-gateway": wrong })).toThrow(/namespace and a name/);
    }
    expect(() => kubernetes({ "cluster-ingress": "none" })).toThrow(/cluster.*provider/);
    expect(kubernetes({ "cluster-leased-ips": "203.0.113.0/31, 198.51.100.7" }).leasedIps).toEqual([
      "203.0.113.0",
      "203.0.113.1",
      "198.51.100.7",
    ]);
    expect(() => kubernetes({ "cluster-leased-ips": "203.0.113.1/24" })).toThrow(
      /--cluster-leased-ips.*203\.0\.113\.0\/28/,
    );
  });

  test("of images", () => {
    const given = {
      "cluster-allow-registries": "registry.internal:5000, http://10.0.0.7:5000,http://[fd00::7]",
      "cluster-image-size": "512Mi",
      "cluster-lease-images": "2Gi",
      "cluster-image-keep": "1h",
    };
    expect(docker(given)).toMatchObject({
      registries: {
        allowed: [
          { host: "registry.internal:5000", plain: false },
          { host: "10.0.0.7:5000", plain: true },
          { host: "[fd00::7]", plain: true },
        ],
      },
      limits: { imageBytes: 512n << 20n, leaseImageBytes: 2n << 30n },
      timing: { imageKeep: 3_600_000 },
    });
    for (const wrong of ["ftp://x", "a/b", "user@host", "host:99999", "-x", "a b", "*"]) {
      const given = { "cluster-allow-registries": `fine.example,${wrong}` };
      expect(() => docker(given), wrong).toThrow(/hosts such as/);
      expect(() => docker(given), wrong).toThrow(`not ${JSON.stringify(wrong)}`);
    }
  });

  test("of models of GPUs", () => {
    const given = { "cluster-gpu-models": "nvidia.com/gpu=0:a100/80Gi/sxm,amd.com/gpu:mi300x" };
    expect([...docker(given).gpus.models]).toEqual([
      ["nvidia.com/gpu=0", { model: "a100", ram: "80Gi", interface: "sxm" }],
      ["amd.com/gpu", { model: "mi300x" }],
    ]);
    for (const wrong of ["a100", "nvidia.com/gpu=0", "nvidia.com/gpu=0:a100/80GB", ":t4"]) {
      expect(() => docker({ "cluster-gpu-models": wrong }), wrong).toThrow(/devices with their models/);
    }
  });

  test("come from the environment too", () => {
    expect(settings({}, { SVC_FEES: "3utoken", SVC_DEPLOYMENT_INGRESS_STATIC_HOSTS: "false" })).toMatchObject({
      fee: { amount: 3n },
      ingress: { staticHosts: false },
    });
  });

  test.each([
    [{ "bid-price-cpu-scale": "cheap" }, "cpu"],
    [{ fees: "1000" }, "--fees: invalid coin"],
    [{ "bid-deposit": "five" }, "--bid-deposit: invalid coin"],
    [{ "cluster-node-port-quantity": "-1" }, "--cluster-node-port-quantity takes a whole number"],
    [{ "cluster-leased-ips-per-tenant": "0" }, "--cluster-leased-ips-per-tenant takes a number of at least 1"],
    [{ "bid-share-per-tenant": "0" }, "--bid-share-per-tenant takes a percentage from 1 to 100"],
    [{ "bid-share-per-tenant": "101" }, "--bid-share-per-tenant takes a percentage from 1 to 100"],
    [{ "gateway-listen-address": "8443" }, "--gateway-listen-address takes <host>:<port>"],
  ])("%j is refused", (given, text) => expect(() => settings(given)).toThrow(text));
});

describe("host names", () => {
  test.each([
    ["*.apps.example.com"],
    ["https://apps.example.com"],
    ["apps.example.com:80"],
    ["apps.example.com/"],
    ["my apps"],
    [""],
  ])("%j is none", (text) => {
    for (const flag of ["deployment-ingress-domain", "cluster-public-hostname"]) {
      expect(() => settings({ [flag]: text })).toThrow(`--${flag} takes a host name such as apps.example.com`);
    }
  });

  test.each([
    ["Apps.Example.com", "apps.example.com"],
    ["203.0.113.7", "203.0.113.7"],
    ["localhost", "localhost"],
  ])("%s is one", (text, host) => {
    const given = settings({ "deployment-ingress-domain": text, "cluster-public-hostname": text });
    expect([given.ingress.domain, given.publicHostname]).toEqual([host, host]);
  });
});

describe("prices", () => {
  const MIB = 1n << 20n;
  const row = {
    id: 1,
    count: 1n,
    cpu: 100n,
    memory: 64n * MIB,
    gpu: 0n,
    gpuKinds: [],
    volumes: [
      { bytes: 8n * MIB, class: "", persistent: false },
      { bytes: 4n * MIB, class: "beta2", persistent: true },
    ],
    endpoints: 1,
    ports: 0,
    leasedIps: [1],
  };
  const request = { owner: "svc1tenant", rows: [row], denom: "utoken", maxPrice: 1_000_000n * DEC_ONE };
  const NONE = { "bid-price-cpu-scale": "0", "bid-price-memory-scale": "0", "bid-price-storage-scale": "0" };
  const FREE = { ...NONE, "bid-price-endpoint-scale": "0", "bid-price-ip-scale": "0" };
  const priceOf = (given: Given) => settings(given).pricing.price(request);

  const dir = mkdtempSync(join(tmpdir(), "svc-bid-price-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const script = (name: string, body: string): Given => {
    const path = join(dir, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return { "bid-price-strategy": "shellScript", "bid-price-script-path": path };
  };

  test.each([
    ["cpu", "0.5", "50"],
    ["memory", "0.25", "16"],
    ["storage", "0.125,beta2=2", "9"],
    ["endpoint", "3", "3"],
    ["ip", "7", "7"],
  ])("--bid-price-%s-scale %s", async (resource, scale, price) => {
    const classes = resource === "storage" ? {} : { "bid-price-storage-scale": "0,beta2=0" };
    expect(await priceOf({ ...FREE, ...classes, [`bid-price-${resource}-scale`]: scale })).toBe(parseDec(price));
  });

  test("--bid-price-strategy randomRange goes by the memory alone", async () => {
    const given = { ...FREE, "bid-price-strategy": "randomRange" };
    const price = await priceOf(given);
    expect([price >= parseDec("3.125"), price <= request.maxPrice]).toEqual([true, true]);
    expect(await settings(given).pricing.price({ ...request, maxPrice: DEC_ONE })).toBe(parseDec("3.125"));
  });

  test("--bid-price-strategy shellScript asks the program of --bid-price-script-path", async () => {
    expect(await priceOf(script("seven.sh", "echo 7"))).toBe(parseDec("7"));
  });

  test("--bid-price-script-timeout ends a program that is too slow", async () => {
    const slow = { ...script("slow.sh", "sleep 5; echo 7"), "bid-price-script-timeout": "100ms" };
    await expect(priceOf(slow)).rejects.toThrow("signal SIGKILL");
  });

  test("--bid-price-script-process-limit is how many run at once", async () => {
    // The script prints 1 while another one runs; each removes the folder at its end.
    const alone = `mkdir ${dir}/running 2>/dev/null || { echo 1; exit; }; sleep 0.3; rmdir ${dir}/running; echo 2`;
    const { pricing } = settings({ ...script("alone.sh", alone), "bid-price-script-process-limit": "1" });
    const prices = await Promise.all([pricing.price(request), pricing.price(request)]);
    expect(prices).toEqual([2n * DEC_ONE, 2n * DEC_ONE]);
  });
});
