import { describe, expect, test } from "vitest";
import { parseDec } from "../../util/index.ts";
import { type Environment, resolveFlags } from "../flags.ts";
import { readEngineSettings, readSettings } from "./config.ts";
import { PROVIDER_RUN_FLAGS } from "./spec.ts";

type Given = Record<string, string | boolean>;

const flags = (given: Given, env: Environment = {}) =>
  resolveFlags(PROVIDER_RUN_FLAGS, new Map(Object.entries(given)), { SVC_HOME: "/home/x", ...env });
const settings = (given: Given = {}, env: Environment = {}) => readSettings(flags(given, env));

const COIN = { denom: "utoken" };

describe("the settings of a provider", () => {
  test("without flags are the documented ones", () => {
    const { fee, gasPrice, bidDeposit, gateway, nodePorts, ingress, pricing, publicHostname } = settings();
    expect({ fee, gasPrice, bidDeposit }).toEqual({
      fee: { ...COIN, amount: 1000n },
      gasPrice: parseDec("0.0025"),
      bidDeposit: undefined,
    });
    expect(gateway).toEqual({ host: "0.0.0.0", port: 8443 });
    expect(nodePorts).toEqual({ quantity: 1000, first: 30_000, last: 32_767 });
    expect(ingress).toMatchObject({ domain: "localhost", staticHosts: true, host: "0.0.0.0", port: 80 });
    expect(pricing.description).toMatch(/^scale: cpu 0\.001\/mcpu, memory 0\.0001\/MiB, .*endpoint 0\.01/);
    expect(publicHostname).toBe("localhost");
  });

  test("without flags give up, look again and collect at the documented times", () => {
    const { bidTimeoutMs, manifestTimeoutMs, withdrawalPeriodMs, inventoryPollMs, monitor, overcommit } = settings();
    expect({ bidTimeoutMs, manifestTimeoutMs, withdrawalPeriodMs, inventoryPollMs }).toEqual({
      bidTimeoutMs: 300_000,
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
      nodePorts: { quantity: 7 },
      publicHostname: "cluster.example",
      ingress: { domain: "apps.example", staticHosts: false },
    });
    expect(given.pricing.description).toMatch(
      /^scale: cpu 0\.5\/mcpu, memory 0\.25\/MiB, ephemeral storage 0\.125\/MiB.* endpoint 3,/,
    );
  });

  test("of a container engine", () => {
    expect(readEngineSettings(flags({}))).toEqual({
      stateDir: "/home/x/provider/engine",
      allowLocalImages: false,
      publicHostname: "localhost",
      volumeSizeEnforcement: "loop",
      timing: { stopGrace: 30_000 },
    });
    const given = { "cluster-stop-grace": "1500ms", "cluster-volume-sizes": "none", "cluster-local-images": true };
    expect(readEngineSettings(flags({ ...given, "cluster-public-hostname": "cluster.example" }))).toMatchObject({
      allowLocalImages: true,
      publicHostname: "cluster.example",
      volumeSizeEnforcement: "none",
      timing: { stopGrace: 1500 },
    });
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
