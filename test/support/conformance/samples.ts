import type { LeaseSpec } from "../../../src/provider/cluster/contract/driver.ts";
import type { ServiceRoute } from "../../../src/provider/cluster/contract/routing.ts";
import type { ManifestExpose, ManifestService } from "../../../src/sdl/index.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";

let sequence = 0n;

/** A lease id that no other case uses. */
export function sampleLease(): LeaseKey {
  return { owner: "svc1tenant", dseq: ++sequence, gseq: 1, oseq: 1, provider: "svc1provider" };
}

export function sampleExpose(overrides: Partial<ManifestExpose> = {}): ManifestExpose {
  return {
    port: 80,
    externalPort: 80,
    proto: "TCP",
    service: "",
    global: true,
    hosts: null,
    httpOptions: { maxBodySize: 1 << 20, readTimeout: 60_000, sendTimeout: 60_000, nextTries: 3, nextTimeout: 0 },
    ip: "",
    endpointSequenceNumber: 0,
    ...overrides,
  };
}

/** A service with a tenth of a core, 64 MiB of memory and 64 MiB of disk. */
export function sampleService(image: string, overrides: Partial<ManifestService> = {}): ManifestService {
  return {
    name: "web",
    image,
    command: null,
    args: null,
    env: null,
    resources: {
      id: 1,
      cpu: { units: { val: "100" } },
      memory: { size: { val: String(64 << 20) } },
      storage: [{ name: "default", size: { val: String(64 << 20) } }],
      gpu: { units: { val: "0" } },
      endpoints: [],
    },
    count: 1,
    expose: [sampleExpose()],
    credentials: null,
    ...overrides,
  };
}

export function sampleSpec(services: readonly ManifestService[], overrides: Partial<LeaseSpec> = {}): LeaseSpec {
  return {
    id: overrides.id ?? sampleLease(),
    group: { name: "test", services },
    version: "00".repeat(32),
    generation: 1,
    hosts: new Map(),
    ports: [],
    ...overrides,
  };
}

/** A service that runs a shell script and exposes nothing. */
export function scriptService(
  image: string,
  script: string,
  overrides: Partial<ManifestService> = {},
): ManifestService {
  return sampleService(image, { command: ["sh", "-c"], args: [script], expose: [], ...overrides });
}

/** The route of the sample service. */
export function serviceOf(id: LeaseKey, hosts: readonly string[]): ServiceRoute {
  return { target: { lease: id, service: "web", port: 80, options: sampleExpose().httpOptions }, hosts };
}
