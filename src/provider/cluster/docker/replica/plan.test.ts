import { describe, expect, it } from "vitest";
import { sampleExpose, sampleService, sampleSpec } from "../../../../../test/support/conformance/index.ts";
import { checkSpec } from "../check.ts";
import { Naming } from "../labels.ts";
import { settingsOf } from "../options.ts";
import { containerOptions } from "./container.ts";
import { configHash, planService } from "./plan.ts";

const IMAGE = "docker.io/library/app:1";

function withVolumes(
  ...volumes: { name: string; size: bigint; mount?: string; attributes?: Record<string, string> }[]
) {
  const service = sampleService(IMAGE);
  return {
    ...service,
    resources: {
      ...service.resources,
      storage: volumes.map(({ name, size, attributes = {} }) => ({
        name,
        size: { val: size.toString() },
        attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })),
      })),
    },
    params: {
      storage: volumes.flatMap(({ name, mount }) => (mount === undefined ? [] : [{ name, mount, readOnly: false }])),
    },
  };
}

const MI = 1n << 20n;

describe("plan of a service", () => {
  it("sorts storage into layer, volumes and memory, which counts into the memory limit", () => {
    const plan = planService(
      withVolumes(
        { name: "default", size: 10n * MI },
        { name: "data", size: 20n * MI, mount: "/data", attributes: { persistent: "true" } },
        { name: "shm", size: 5n * MI, mount: "/dev/shm", attributes: { class: "ram" } },
      ),
    );
    expect(plan.layerLimit).toBe(10n * MI);
    expect(plan.volumes).toEqual([{ name: "data", mount: "/data", size: 20n * MI, readOnly: false, persistent: true }]);
    expect(plan.tmpfs).toEqual([{ mount: "/dev/shm", size: 5n * MI }]);
    expect(plan.memory).toBe(69n * MI);
    expect(plan.stopFirst).toBe(true);
  });

  it("leaves a little room in the layer where all storage is mounted", () => {
    const plan = planService(withVolumes({ name: "data", size: 20n * MI, mount: "/data" }));
    expect(plan.layerLimit).toBe(16n * MI);
  });

  it("publishes global ports once and redirects `as` unless a program listens there", () => {
    const plan = planService(
      sampleService(IMAGE, {
        expose: [
          sampleExpose({ port: 8080, externalPort: 80 }),
          sampleExpose({ port: 8080, externalPort: 80, global: false }),
          sampleExpose({ port: 53, externalPort: 53, proto: "UDP" }),
          sampleExpose({ port: 9000, externalPort: 8080, global: false }),
          sampleExpose({ port: 9000, externalPort: 0, global: false }),
        ],
      }),
    );
    expect(plan.published).toEqual([
      { port: 8080, proto: "tcp" },
      { port: 53, proto: "udp" },
    ]);
    expect(plan.redirects).toEqual([
      { from: 80, to: 8080, proto: "tcp" },
      { from: 8080, to: 9000, proto: "tcp" },
    ]);
    expect(plan.readyPorts).toEqual([8080, 9000]);
  });

  it("changes its hash with what a container is made from, and with nothing else", () => {
    const hash = (overrides: Parameters<typeof sampleService>[1], image = "sha256:1") =>
      configHash(planService(sampleService(IMAGE, overrides)), image);
    const base = hash({});
    expect(hash({ count: 5 })).toBe(base);
    expect(hash({ credentials: { host: "h", email: "", username: "u", password: "p" } })).toBe(base);
    const others = [hash({}, "sha256:2"), hash({ env: ["A=1"] }), hash({ args: ["x"] }), hash({ expose: [] })];
    expect(new Set([base, ...others]).size).toBe(5);
  });
});

describe("container of a replica", () => {
  it("is confined and named after provider, lease, replica and generation", () => {
    const spec = sampleSpec([sampleService(IMAGE, { command: ["/app"], args: [], env: ["A=b=c", "B"] })]);
    const service = spec.group.services[0];
    if (service === undefined) throw new Error("no service");
    const settings = settingsOf({ socket: "/none", stateDir: "/none", namePrefix: "svc-test" });
    const plan = planService(service);
    const made = {
      imageId: "sha256:1",
      config: "c",
      folders: new Map(),
      engine: "podman",
      seccomp: "/p.json",
      init: true,
      users: undefined,
      healthCheck: undefined,
      gpus: { config: {}, labels: {} },
      forced: {},
      ulimits: [],
    };
    const files = new Map([["/etc/hosts", "/state/hosts"]]);
    const input = { ...made, spec, plan, index: 1, files };
    const options = containerOptions(input, settings, new Naming("svc-test"));
    expect(options.name).toMatch(/^svc-test-[0-9a-v]{12}-web-1-g1$/);
    expect(options.Entrypoint).toEqual(["/app"]);
    expect("Cmd" in options).toBe(false);
    expect(options.Env).toEqual(expect.arrayContaining(["A=b=c", "B=", `SVC_DEPLOYMENT_SEQUENCE=${spec.id.dseq}`]));
    expect(options.HostConfig).toMatchObject({
      Privileged: false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges", "seccomp=/p.json", expect.stringMatching(/^mask=.*:\/proc\/kpagecount:/)],
      Init: true,
      Binds: ["/state/hosts:/etc/hosts:ro"],
      RestartPolicy: { Name: "no" },
      PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }] },
    });
    expect(options.HostConfig).not.toHaveProperty("UsernsMode");
    const mapped = containerOptions({ ...input, users: "auto:size=65536" }, settings, new Naming("svc-test"));
    expect(mapped.HostConfig?.UsernsMode).toBe("auto:size=65536");
    const { HostConfig: docker } = containerOptions({ ...input, engine: "docker" }, settings, new Naming("svc-test"));
    expect(docker).toMatchObject({
      SecurityOpt: ["no-new-privileges", "seccomp=/p.json"],
      MaskedPaths: expect.arrayContaining(["/proc/kcore", "/proc/kpagecount"]),
    });
  });

  it("gets the devices that were taken for it, and no others by a variable of the tenant's", () => {
    const spec = sampleSpec([sampleService(IMAGE, { env: ["NVIDIA_VISIBLE_DEVICES=all", "A=b"] })]);
    const service = spec.group.services[0] ?? sampleService(IMAGE);
    const input = {
      spec,
      plan: planService(service),
      index: 0,
      imageId: "sha256:1",
      config: "c",
      folders: new Map(),
      files: new Map(),
      engine: "docker",
      seccomp: "{}",
      healthCheck: undefined,
      users: undefined,
      init: false,
      gpus: {
        config: { DeviceRequests: [{ Driver: "cdi", DeviceIDs: ["nvidia.com/gpu=1"] }] },
        labels: { "svc.gpus": "nvidia.com/gpu=1" },
      },
      ulimits: [],
      forced: { NVIDIA_VISIBLE_DEVICES: "void" },
    };
    const settings = settingsOf({ socket: "/none", stateDir: "/none", namePrefix: "svc-test" });
    const { Env, HostConfig, Labels } = containerOptions(input, settings, new Naming("svc-test"));
    expect(Env?.filter((entry) => entry.startsWith("NVIDIA"))).toEqual(["NVIDIA_VISIBLE_DEVICES=void"]);
    expect(Env).toContain("A=b");
    expect(HostConfig?.DeviceRequests).toEqual([{ Driver: "cdi", DeviceIDs: ["nvidia.com/gpu=1"] }]);
    expect(Labels).toMatchObject({ "svc.gpus": "nvidia.com/gpu=1" });
  });
});

describe("specs that can never run", () => {
  const check = (service: ReturnType<typeof withVolumes>, noVolumes?: string) => () =>
    checkSpec(sampleSpec([service]), {
      allowLocalImages: false,
      noVolumes,
      gpus: [{ vendor: "nvidia", model: "t4", count: 2n }],
    });

  it("are refused with the service and the reason", () => {
    const data = { name: "data", size: 20n * MI, mount: "/data" };
    expect(check(withVolumes(data))).not.toThrow();
    expect(check(withVolumes(data), "no loop devices")).toThrow(/service "web": no loop devices/);
    expect(check(withVolumes({ ...data, mount: "data" }))).toThrow(/absolute path/);
    expect(check(withVolumes({ ...data, mount: "/a:/b" }))).toThrow(/absolute path/);
    expect(check(withVolumes({ ...data, size: 1n }))).toThrow(/smaller than 1Mi/);
    const unmounted = { name: "data", size: 20n * MI, attributes: { persistent: "true" } };
    expect(check(withVolumes(unmounted))).toThrow(/has no mount/);
    const local = { ...withVolumes(data), image: "localhost/x:1" };
    expect(check(local)).toThrow(/only on the provider's machine/);
    const leased = { ...withVolumes(data), expose: [sampleExpose({ ip: "mine" })] };
    expect(check(leased)).toThrow(/leased IP/);
  });

  it("have GPUs of one kind that the host has, and no more of them than it has", () => {
    const asking = (units: string, ...keys: string[]) => {
      const service = sampleService(IMAGE);
      const attributes = keys.map((key) => ({ key, value: "true" }));
      return check({
        ...service,
        resources: { ...service.resources, gpu: { units: { val: units }, attributes } },
      } as never);
    };
    expect(asking("2", "vendor/nvidia/model/t4")).not.toThrow();
    expect(asking("1", "vendor/nvidia/model/*")).not.toThrow();
    expect(asking("1", "vendor/nvidia/model/h100", "vendor/nvidia/model/t4")).not.toThrow();
    for (const refused of [asking("3", "vendor/nvidia/model/t4"), asking("1", "vendor/nvidia/model/h100")])
      expect(refused).toThrow(/not have [13] GPUs of a requested kind/);
    expect(planService(sampleService(IMAGE)).stopFirst).toBe(false);
  });
});
