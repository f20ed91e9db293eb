import { toJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { fromUtf8 } from "../../util/index.ts";
import { Endpoint_Kind } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { formatIssue, SdlError } from "../errors.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { type LoadedSdl, type LoadOptions, loadSdl } from "../load.ts";

/** A service that takes the given lines below its image. */
function service(name: string, lines: string): string {
  return `  ${name}:\n    image: docker.io/example/${name}:1\n${lines}`;
}

const PUBLIC = "    expose: [{port: 80, to: [{global: true}]}]\n";
const RESOURCES = "cpu: {units: 0.2}, memory: {size: 100Mi}, storage: {size: 100Mi}";

interface FileParts {
  readonly version?: string;
  readonly services: string;
  readonly compute?: string;
  readonly placement?: string;
  readonly deployment: string;
}

function file(parts: FileParts): string {
  return [
    `version: "${parts.version ?? "2.0"}"`,
    "services:",
    parts.services,
    "profiles:",
    `  compute:\n${parts.compute ?? `    p: {resources: {${RESOURCES}}}`}`,
    `  placement:\n${parts.placement ?? "    here: {pricing: {p: {denom: utoken, amount: 40.25}}}"}`,
    "deployment:",
    parts.deployment,
  ].join("\n");
}

const TWO = {
  services:
    service("a", PUBLIC) + service("b", "    expose: [{port: 53, proto: udp, to: [{global: true}, {service: a}]}]\n"),
  deployment: "  b: {here: {profile: p, count: 2}}\n  a: {here: {profile: p, count: 1}}",
};

function rows(loaded: LoadedSdl): readonly unknown[] {
  return (loaded.groups[0]?.resources ?? []).map(({ resources, count, price }) => ({
    id: resources?.id,
    count,
    price: price?.amount,
    endpoints: resources?.endpoints.map(({ kind }) => Endpoint_Kind[kind]),
  }));
}

function auditor(n: number): string {
  return encodeAddress(new Uint8Array(20).fill(n));
}

function faults(text: string, options: LoadOptions = {}): readonly string[] {
  try {
    loadSdl(text, { file: "f", ...options });
    return [];
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    return error.issues.map(formatIssue);
  }
}

describe("groups of an order", () => {
  it("have a row per service in version 2.0, in the order of the services' names", () => {
    expect(rows(loadSdl(file(TWO)))).toEqual([
      { id: 1, count: 1, price: "40250000000000000000", endpoints: ["SHARED_HTTP"] },
      { id: 2, count: 2, price: "40250000000000000000", endpoints: ["RANDOM_PORT"] },
    ]);
  });

  it("have a row per compute profile in version 2.1", () => {
    const loaded = loadSdl(file({ ...TWO, version: "2.1" }));
    expect(rows(loaded)).toEqual([
      { id: 1, count: 3, price: "40250000000000000000", endpoints: ["SHARED_HTTP", "RANDOM_PORT"] },
    ]);
    expect(loaded.manifest[0]?.services.map(({ resources, count }) => [resources.id, count])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  it("carry resources as digits, and requirements sorted by key", () => {
    const placement =
      "    here: {attributes: {zone: z, host: h}, signedBy: {anyOf: [$B, $A], allOf: [$C]}, pricing: {p: {denom: utoken, amount: 1}}}"
        .replace("$A", auditor(1))
        .replace("$B", auditor(2))
        .replace("$C", auditor(3));
    const [group] = loadSdl(file({ ...TWO, placement })).groups;
    expect(group?.requirements).toMatchObject({
      signedBy: { anyOf: [auditor(2), auditor(1)], allOf: [auditor(3)] },
      attributes: [
        { key: "host", value: "h" },
        { key: "zone", value: "z" },
      ],
    });
    const units = group?.resources[0]?.resources;
    const amounts = [units?.cpu?.units, units?.memory?.quantity, units?.storage[0]?.quantity, units?.gpu?.units];
    expect(amounts.map((value) => fromUtf8(value?.val ?? new Uint8Array()))).toEqual([
      "200",
      "104857600",
      "104857600",
      "0",
    ]);
  });

  it("carry attributes of processors, volumes and GPUs", () => {
    const compute = `    p:
      resources:
        cpu: {units: 1, attributes: {arch: arm64}}
        memory: {size: 1Gi, attributes: }
        storage:
          - {size: 1Gi, attributes: }
          - {name: scratch, size: 512Mi, attributes: {class: ram}}
          - {name: data, size: 5Gi, attributes: {persistent: "true"}}
        gpu:
          units: "1"
          attributes: {vendor: {nvidia: [{model: h100}, {model: a100, ram: 80Gi, interface: pcie}, {model: h100}]}}`;
    const services = service("a", `${PUBLIC}    params: {storage: {data: {mount: /data}}}\n`);
    const loaded = loadSdl(file({ services, compute, deployment: "  a: {here: {profile: p, count: 1}}" }));
    const texts = (attributes: { key: string; value: string }[] = []) => attributes.map((a) => `${a.key}=${a.value}`);
    const units = loaded.groups[0]?.resources[0]?.resources;
    expect(texts(units?.cpu?.attributes)).toEqual(["arch=arm64"]);
    expect(units?.storage.map(({ name, attributes }) => [name, ...texts(attributes)])).toEqual([
      ["default"],
      ["scratch", "class=ram", "persistent=false"],
      ["data", "class=default", "persistent=true"],
    ]);
    expect(texts(units?.gpu?.attributes)).toEqual([
      "vendor/nvidia/model/a100/ram/80Gi/interface/pcie=true",
      "vendor/nvidia/model/h100=true",
    ]);
  });

  it("are sorted by the name of the placement and encode as JSON", () => {
    const placement =
      "    west: {pricing: {p: {denom: utoken, amount: 1}}}\n    east: {pricing: {p: {denom: utoken, amount: 2}}}";
    const deployment = "  a: {west: {profile: p, count: 1}, east: {profile: p, count: 1}}";
    const { groups } = loadSdl(file({ services: service("a", PUBLIC), placement, deployment }));
    expect(groups.map(({ name }: GroupSpec) => name)).toEqual(["east", "west"]);
    for (const group of groups) expect(() => toJson(GroupSpecSchema, group)).not.toThrow();
  });

  it("say how long a provider must wait before it ends the lease", () => {
    expect(loadSdl(`${file(TWO)}\nreclamation: {min_window: 24h}\n`).reclaimMinWindowSeconds).toBe(86_400n);
    expect(loadSdl(file(TWO)).reclaimMinWindowSeconds).toBe(0n);
  });
});

describe("limits of whole groups", () => {
  const many = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join("\n");

  it("bound the kinds of replicas and the placements", () => {
    const services = many(21, (i) => service(`s${i}`, PUBLIC).trimEnd());
    const deployment = many(21, (i) => `  s${i}: {here: {profile: p, count: 1}}`);
    expect(faults(file({ services, deployment }))).toEqual([
      expect.stringContaining("21 kinds of replicas in one deployment; write at most 20 in one placement"),
    ]);
    const placement = many(21, (i) => `    g${i}: {pricing: {p: {denom: utoken, amount: 1}}}`);
    const spread = `  a: {${many(21, (i) => `g${i}: {profile: p, count: 1},`).replaceAll("\n", " ")}}`;
    expect(faults(file({ services: service("a", PUBLIC), placement, deployment: spread }))).toEqual([
      expect.stringContaining("21 placements in one deployment; write at most 20"),
    ]);
  });

  it("bound replicas that version 2.1 adds up", () => {
    const text = file({ ...TWO, version: "2.1" }).replace("count: 2", "count: 50");
    expect(faults(text)).toEqual([
      expect.stringContaining('51 replicas of profile "p" in one deployment; write at most 50'),
    ]);
  });

  it("bound totals, by the limits of the chain at hand", () => {
    const limits = { ...DEFAULT_LIMITS, groupCpuMax: 500n, groupMemoryMax: 2n ** 28n, groupStorageMax: 2n ** 20n };
    const texts = faults(file(TWO), { limits }).map((text) => text.replace(/^.*?: .*?: /, ""));
    expect(texts).toEqual([
      '0.6 cores in placement "here" is too much; write at most 0.5 over all replicas',
      '300Mi memory in placement "here" is too much; write at most 256Mi over all replicas',
      '300Mi storage in placement "here" is too much; write at most 1Mi over all replicas',
    ]);
  });

  it("bound single replicas by the limits of the chain at hand", () => {
    expect(faults(file(TWO), { limits: { ...DEFAULT_LIMITS, unitCpuMax: 100n } })).toEqual([
      expect.stringContaining('"0.2" is out of range; write 0.01 to 0.1'),
    ]);
  });

  it("allow one kind of protected machine", () => {
    const services = service("a", `${PUBLIC}    params: {tee: cpu}\n`) + service("b", "    params: {tee: cpu-gpu}\n");
    const texts = faults(file({ ...TWO, services }));
    expect(texts).toEqual([
      expect.stringContaining('tee "cpu-gpu" in placement "here" beside "cpu" of service "a"'),
      expect.stringContaining('tee "cpu-gpu", but profile "p" has no GPU'),
    ]);
  });
});

describe("leased addresses", () => {
  const endpoints = "endpoints: {beta: {kind: ip}, alpha: {kind: ip}}\n";
  const expose = (ports: readonly string[]) => `    expose: [${ports.join(", ")}]\n`;
  const target = (ip: string) => `to: [{global: true, ip: ${ip}}]`;
  const deployment = "  a: {here: {profile: p, count: 1}}";

  it("are numbered by name, the last use counting", () => {
    const ports = [`{port: 80, ${target("beta")}}`, `{port: 81, ${target("alpha")}}`, `{port: 82, ${target("alpha")}}`];
    const { manifest } = loadSdl(endpoints + file({ services: service("a", expose(ports)), deployment }));
    const [web] = manifest[0]?.services ?? [];
    expect(web?.expose.map(({ ip, endpointSequenceNumber }) => [ip, endpointSequenceNumber])).toEqual([
      ["beta", 3],
      ["alpha", 2],
      ["alpha", 2],
    ]);
    expect(web?.resources.endpoints).toEqual([
      { sequence_number: 0 },
      { kind: 2, sequence_number: 3 },
      { kind: 1, sequence_number: 0 },
      { kind: 2, sequence_number: 2 },
      { kind: 1, sequence_number: 0 },
      { kind: 2, sequence_number: 2 },
    ]);
  });

  it("give each port once, whether it is named with as: or not", () => {
    const ports = [
      `{port: 80, ${target("beta")}}`,
      `{port: 8080, as: 80, ${target("beta")}}`,
      `{port: 1, ${target("alpha")}}`,
    ];
    const texts = faults(endpoints + file({ services: service("a", expose(ports)), deployment }));
    expect(texts).toContainEqual(expect.stringContaining('beta:80/TCP is already in use by service "a"'));
  });
});

describe("warnings", () => {
  it("come in the order of the file and leave the result as it is", () => {
    const text = file({
      services: service("a", `${PUBLIC}    restart: always\n    env: [A=1, A=2]\n`) + service("c", ""),
      deployment: "  a: {here: {profile: p, count: 1}}",
    });
    const { warnings, manifest } = loadSdl(text, { file: "f" });
    expect(warnings.map(formatIssue)).toEqual([
      'f:6:5: services.a.restart: the key "restart" is ignored; remove it: services are always restarted',
      "f:7:16: services.a.env[1]: A is set twice; keep one: the last counts",
      'f:8:3: services.c: service "c" is not in deployment:; remove it, or name it under deployment:',
    ]);
    expect(manifest[0]?.services.map(({ name }) => name)).toEqual(["a"]);
  });

  it("say that a port is open to nobody and left out", () => {
    const text = file({
      services: service("a", "    expose: [{port: 80, to: [{global: true}]}, {port: 9000}]\n"),
      deployment: "  a: {here: {profile: p, count: 1}}",
    });
    const { warnings, manifest } = loadSdl(text, { file: "f" });
    expect(warnings.map(({ problem }) => problem)).toEqual(["port 9000 is open to nobody: the entry has no to:"]);
    expect(manifest[0]?.services[0]?.expose.map(({ port }) => port)).toEqual([80]);
  });
});

describe("credentials", () => {
  const text = (version: string) =>
    file({
      version,
      services: service(
        "a",
        `${PUBLIC}    credentials: {host: " r.io ", email: me@r.io, username: u, password: " secret"}\n`,
      ),
      deployment: "  a: {here: {profile: p, count: 1}}",
    });
  const read = (version: string) => loadSdl(text(version)).manifest[0]?.services[0]?.credentials;

  it("keep spaces and lose the e-mail address in version 2.0, the other way round in 2.1", () => {
    expect(read("2.0")).toEqual({ host: " r.io ", email: "", username: "u", password: " secret" });
    expect(read("2.1")).toEqual({ host: "r.io", email: "me@r.io", username: "u", password: "secret" });
  });
});

describe("names that objects have by nature", () => {
  it("are plain data", () => {
    const text = file({
      services: service("constructor", PUBLIC),
      compute: `    __proto__: {resources: {${RESOURCES}}}`,
      placement: "    toString: {attributes: {valueOf: x}, pricing: {__proto__: {denom: utoken, amount: 1}}}",
      deployment: "  constructor: {toString: {profile: __proto__, count: 1}}",
    });
    const { manifest, groups } = loadSdl(text);
    expect(manifest[0]?.services[0]?.name).toBe("constructor");
    expect(groups[0]).toMatchObject({
      name: "toString",
      requirements: { attributes: [{ key: "valueOf", value: "x" }] },
    });
  });
});
