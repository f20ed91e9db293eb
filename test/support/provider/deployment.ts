import type { DeploymentRecord } from "../../../src/client/index.ts";
import type { Offer } from "../../../src/provider/orders/stages/filters.ts";
import { type LoadedSdl, loadSdl } from "../../../src/sdl/index.ts";

export interface SampleOptions {
  readonly image?: string;
  readonly env?: readonly string[];
  /** Names under `accept` of the web service. */
  readonly hosts?: readonly string[];
  /** Shell script of the second service `job`. */
  readonly job?: string;
  /** Ports of the host that the web service asks for. */
  readonly nodePorts?: readonly number[];
  /** Names of leased addresses that lead to port 53 of the web service. */
  readonly leasedIps?: readonly string[];
  readonly count?: number;
}

/** A deployment file with the HTTP service `web` and, where asked for, the service `job` that runs a script. */
export function sampleDeployment(options: SampleOptions = {}): LoadedSdl {
  return loadSdl(sampleFile(options));
}

/** Its text. */
export function sampleFile(options: SampleOptions = {}): string {
  const {
    image = "registry.example.com/web:1",
    env = [],
    hosts = [],
    nodePorts = [],
    leasedIps = [],
    count = 1,
    job,
  } = options;
  const services = job === undefined ? ["web"] : ["web", "job"];
  const document = {
    version: "2.0",
    ...(leasedIps.length === 0
      ? {}
      : { endpoints: Object.fromEntries(leasedIps.map((name) => [name, { kind: "ip" }])) }),
    services: {
      web: {
        image,
        ...(env.length === 0 ? {} : { env }),
        expose: [
          { port: 80, as: 80, ...(hosts.length === 0 ? {} : { accept: hosts }), to: [{ global: true }] },
          ...nodePorts.map((port) => ({ port: 80, as: port, to: [{ global: true }] })),
          ...leasedIps.map((ip, at) => ({ port: 80, as: 5300 + at, to: [{ global: true, ip }] })),
        ],
      },
      ...(job === undefined ? {} : { job: { image, command: ["sh", "-c"], args: [job] } }),
    },
    profiles: {
      compute: { small: { resources: { cpu: { units: 0.1 }, memory: { size: "32Mi" }, storage: { size: "64Mi" } } } },
      placement: { here: { pricing: { small: { denom: "utoken", amount: 1000 } } } },
    },
    deployment: Object.fromEntries(services.map((name) => [name, { here: { profile: "small", count } }])),
  };
  // JSON is YAML.
  return JSON.stringify(document, undefined, 1);
}

/** The deployment as the chain holds it. */
export function onChain(loaded: LoadedSdl): DeploymentRecord {
  return {
    dseq: 1n,
    state: "active",
    createdAt: 1n,
    version: loaded.hash,
    groups: loaded.groups.map((spec, index) => ({ gseq: index + 1, state: "open" as const, spec, closeReason: "" })),
    escrow: undefined,
  };
}

/** The offer of a provider that announces nothing. */
export const PLAIN_OFFER: Offer = {
  attributes: [],
  signedBy: () => [],
  tenantAttributes: [],
  gpus: false,
  leasedIps: false,
  leastMemory: 0n,
};
