import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { gpuName } from "../../contract/index.ts";
import { aliasMapping, aliasSpecs, writeAliases } from "./alias.ts";
import { gpuDevices, gpuKinds } from "./devices.ts";
import { nvidiaModels, parseGpuModel, productModel } from "./models.ts";
import { MAX_DEVICES, readSpecs } from "./specs.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-gpu-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const NONE = { named: new Map(), detected: new Map() };

function device(name: string, ...nodes: string[]) {
  return { name, containerEdits: { deviceNodes: nodes.map((path) => ({ path })) } };
}

function spec(kind: string, ...devices: ReturnType<typeof device>[]) {
  return { cdiVersion: "0.5.0", kind, devices };
}

describe("descriptions of devices", () => {
  it("are read from both folders as JSON and YAML, the later folder first, and bad files are named", async () => {
    const [etc, run] = [join(dir, "etc"), join(dir, "run")];
    for (const folder of [etc, run]) mkdirSync(folder);
    writeFileSync(join(etc, "a.yaml"), 'cdiVersion: "0.6.0"\nkind: nvidia.com/gpu\ndevices:\n- name: "0"\n');
    writeFileSync(join(etc, "b.json"), "{half");
    writeFileSync(join(etc, "c.txt"), "not one");
    writeFileSync(join(etc, "d.json"), '{"kind":"x/gpu"}');
    writeFileSync(join(run, "z.json"), JSON.stringify(spec("amd.com/gpu", device("0"))));
    const { specs, faults } = await readSpecs([etc, join(dir, "none"), run]);
    expect(specs.map(({ kind }) => kind)).toEqual(["amd.com/gpu", "nvidia.com/gpu"]);
    expect(faults).toHaveLength(2);
    expect(faults[0]).toContain("b.json");
  });

  it("count each device once, whatever it is called besides", () => {
    const nvidia = spec(
      "nvidia.com/gpu",
      device("GPU-1234", "/dev/nvidia0"),
      device("10", "/dev/nvidia10"),
      device("0", "/dev/nvidia0"),
      device("2", "/dev/nvidia2", "/dev/dri/card2"),
      device("all", "/dev/nvidia0", "/dev/nvidia2", "/dev/dri/card2", "/dev/nvidia10"),
    );
    const other = spec("nvidia.com/nic", device("0", "/dev/nic"));
    expect(gpuDevices([nvidia, other], NONE).map(({ name }) => name)).toEqual([
      "nvidia.com/gpu=0",
      "nvidia.com/gpu=2",
      "nvidia.com/gpu=10",
    ]);
  });

  it("leave out a device that holds another one, take one that is only described with all, and those without nodes", () => {
    expect(
      gpuDevices([spec("v.com/gpu", device("0", "/dev/a"), device("pair", "/dev/a", "/dev/b"))], NONE),
    ).toHaveLength(1);
    expect(gpuDevices([spec("v.com/gpu", device("all", "/dev/dxg"))], NONE)).toMatchObject([{ name: "v.com/gpu=all" }]);
    expect(gpuDevices([spec("v.com/gpu", device("0"), device("1"))], NONE)).toHaveLength(2);
  });

  it("that two files of one folder have are given out by no engine: they are not offered, and both files are named", async () => {
    const [etc, run] = [mkdtempSync(join(dir, "etc-")), mkdtempSync(join(dir, "run-"))];
    const write = (folder: string, name: string, ...devices: string[]) => {
      const described = spec("v.com/gpu", ...devices.map((each) => device(each, `/dev/${each}`)));
      writeFileSync(join(folder, name), JSON.stringify(described));
    };
    write(etc, "a.json", "0", "1", "2");
    write(etc, "b.json", "0", "1", "3");
    // Another folder's description of such a device does not help.
    write(run, "a.json", "0", "2", "4");
    const { specs, faults } = await readSpecs([etc, run]);
    expect(gpuDevices(specs, NONE).map(({ name }) => name)).toEqual(["2", "3", "4"].map((each) => `v.com/gpu=${each}`));
    const files = `${join(etc, "a.json")} and ${join(etc, "b.json")}`;
    expect(faults).toEqual([expect.stringContaining(`${files} both describe v.com/gpu=0, v.com/gpu=1`)]);
  });

  it("of other classes than GPUs may be described as they like", async () => {
    const folder = mkdtempSync(join(dir, "nic-"));
    for (const name of ["a.json", "b.json"])
      writeFileSync(join(folder, name), JSON.stringify(spec("v.com/nic", device("0"))));
    expect((await readSpecs([folder])).faults).toEqual([]);
  });

  it("of one name: the first counts", () => {
    const found = gpuDevices(
      [spec("v.com/gpu", device("0", "/dev/new")), spec("v.com/gpu", device("0", "/dev/old"))],
      NONE,
    );
    expect(found).toEqual([{ name: "v.com/gpu=0", vendor: "v", model: "unknown" }]);
  });
});

describe("descriptions that lie", () => {
  /** The devices read from one file with this text. */
  async function read(text: string, name = "x.json") {
    const folder = mkdtempSync(join(dir, "lie-"));
    writeFileSync(join(folder, name), text);
    return readSpecs([folder]);
  }

  // A label lists the devices of a container between commas: such a name would be free while it is in use.
  it.each(["a,b", "a=b", "", "a b", "../0", "-", "0:", "x".repeat(300), "K\u212a"])(
    "name no device %j",
    async (name) => {
      const { specs, faults } = await read(JSON.stringify(spec("v.com/gpu", device("0"), device(name))));
      expect(specs).toEqual([]);
      expect(faults).toEqual([expect.stringMatching(/x\.json: .*name of a device/)]);
    },
  );

  it.each(["gpu", "/gpu", "v.com/gpu/x", "v,w/gpu", "v.com/", "1.com/gpu", "v.com/gpu=0"])(
    "have no kind %j",
    async (kind) => {
      const { specs, faults } = await read(JSON.stringify(spec(kind, device("0"))));
      expect(specs).toEqual([]);
      expect(faults).toEqual([expect.stringMatching(/x\.json: .*kind of the devices/)]);
    },
  );

  it.each(["constructor", "__proto__", "toString"])("may use a name of the language: %s", async (word) => {
    const kind = word === "__proto__" ? "v.com/gpu" : `${word}/gpu`;
    const name = word === "__proto__" ? "a__proto__b" : word;
    const { specs, faults } = await read(JSON.stringify(spec(kind, device(name, "/dev/x"))));
    expect(faults).toEqual([]);
    const [found] = gpuDevices(specs, NONE);
    expect(found).toEqual({ name: `${kind}=${name}`, vendor: kind.split(/[./]/)[0], model: "unknown" });
  });

  it("describe no more devices than a machine has", async () => {
    const devices = Array.from({ length: MAX_DEVICES + 1 }, (_, n) => device(`${n}`, `/dev/x${n}`));
    const { specs, faults } = await read(JSON.stringify({ ...spec("v.com/gpu"), devices }));
    expect(specs).toHaveLength(0);
    expect(faults).toEqual([expect.stringMatching(/more than \d+ devices/)]);
  });

  it("describe no device twice", async () => {
    const { specs, faults } = await read(
      JSON.stringify(spec("v.com/gpu", device("0", "/dev/a"), device("0", "/dev/b"))),
    );
    expect([specs, faults]).toEqual([[], [expect.stringMatching(/x\.json: .*one device twice/)]]);
  });

  it("may be neither reference bombs nor files without end", async () => {
    const levels = Array.from({ length: 30 }, (_, n) => `a${n}: &a${n} [${n === 0 ? "x" : `*a${n - 1}, *a${n - 1}`}]`);
    const bomb = await read(`cdiVersion: "0.5.0"\nkind: v.com/gpu\ndevices: []\n${levels.join("\n")}\n`, "x.yaml");
    expect([bomb.specs.length, bomb.faults.length]).toEqual([0, 1]);
    const folder = mkdtempSync(join(dir, "links-"));
    symlinkSync("/dev/zero", join(folder, "a.json"));
    symlinkSync("b.json", join(folder, "b.json"));
    symlinkSync("none", join(folder, "c.json"));
    mkdirSync(join(folder, "d.json"));
    const { specs, faults } = await readSpecs([folder]);
    expect([specs.length, faults.length]).toEqual([0, 4]);
  });
});

describe("models of GPUs", () => {
  it.each([
    ["NVIDIA A100-SXM4-80GB", "a100/80Gi/sxm"],
    ["NVIDIA A100-PCIE-40GB", "a100/40Gi/pcie"],
    ["NVIDIA H100 80GB HBM3", "h100hbm3/80Gi"],
    ["Tesla T4", "t4"],
    ["NVIDIA GeForce RTX 4090", "rtx4090"],
    ["NVIDIA RTX 6000 Ada Generation", "rtx6000ada"],
    ["NVIDIA L40S", "l40s"],
    ["NVIDIA", "unknown"],
  ])("%s is %s", (product, name) => {
    expect(gpuName({ vendor: "x", ...productModel(product) })).toBe(`x/${name}`);
  });

  it("come from the operator, for one device or a kind, before the driver", async () => {
    const folder = join(dir, "proc", "0000:01:00.0");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "information"), "Model: \t\t Tesla T4\nIRQ:   34\nDevice Minor: \t 1\n");
    mkdirSync(join(dir, "proc", "0000:02:00.0"));
    const detected = await nvidiaModels(join(dir, "proc"));
    expect([...detected]).toEqual([["/dev/nvidia1", { model: "t4" }]]);
    const specs = [
      spec("nvidia.com/gpu", device("0", "/dev/nvidia0"), device("1", "/dev/nvidia1"), device("2", "/dev/nvidia2")),
    ];
    const named = new Map([["nvidia.com/gpu=2", { model: "a100", ram: "80Gi" }]]);
    const found = gpuDevices(specs, { named, detected });
    expect(found.map(gpuName)).toEqual(["nvidia/unknown", "nvidia/t4", "nvidia/a100/80Gi"]);
    expect(gpuKinds([...found, ...found], gpuName).map(({ count }) => count)).toEqual([2n, 2n, 2n]);
    const all = new Map([["nvidia.com/gpu", { model: "l4" }]]);
    expect(gpuDevices(specs, { named: all, detected }).map(({ model }) => model)).toEqual(["l4", "l4", "l4"]);
  });

  it.each([
    ["nvidia.com/gpu=0:a100/80Gi/sxm", ["nvidia.com/gpu=0", { model: "a100", ram: "80Gi", interface: "sxm" }]],
    ["nvidia.com/gpu:T4", ["nvidia.com/gpu", { model: "t4" }]],
    ["nvidia.com/gpu=0:0:l4/pcie", ["nvidia.com/gpu=0:0", { model: "l4", interface: "pcie" }]],
    ["a100", undefined],
    ["nvidia.com/gpu=0:", undefined],
    ["nvidia.com/gpu=0:a100/80GB", undefined],
  ])("%s is read", (text, expected) => {
    expect(parseGpuModel(text)).toEqual(expected);
  });
});

describe("descriptions for Podman", () => {
  it("name each device as Podman asks for it, once more beside its own name", () => {
    const [[file = "", alias] = []] = aliasSpecs("svc-x", [spec("nvidia.com/gpu", device("0", "/dev/nvidia0"))]);
    expect(file).toBe("svc-x-0.json");
    expect(alias).toMatchObject({ cdiVersion: "0.5.0", kind: "svc-x.nvidia.com/svc-gpu" });
    const { PathOnHost, PathInContainer, CgroupPermissions } = aliasMapping("svc-x", "nvidia.com/gpu=0");
    const asked = [PathOnHost, PathInContainer, CgroupPermissions].join(":").split("=");
    expect(alias?.kind).toBe(asked[0]);
    expect(alias?.devices.map(({ name }) => name)).toEqual(["0", asked[1]]);
    expect(alias?.devices[1]?.containerEdits).toEqual({ deviceNodes: [{ path: "/dev/nvidia0" }] });
    // Its own aliases are no further devices.
    expect(gpuDevices(alias === undefined ? [] : [alias], NONE)).toEqual([]);
  });

  it("describe a device of two folders once: engines give out none that two files of one folder describe", () => {
    const files = aliasSpecs("svc-x", [
      spec("v.com/gpu", device("0", "/dev/new")),
      spec("v.com/gpu", device("0", "/dev/old"), device("1", "/dev/one")),
      spec("v.com/gpu", device("1", "/dev/other")),
      spec("w.com/gpu", device("0", "/dev/w")),
    ]);
    const described = [...files.values()].flatMap(({ kind, devices }) => devices.map(({ name }) => `${kind}=${name}`));
    expect(new Set(described).size).toBe(described.length);
    expect([...files.values()].map(({ devices }) => devices[0]?.containerEdits?.deviceNodes?.[0]?.path)).toEqual([
      "/dev/new",
      "/dev/one",
      "/dev/w",
    ]);
  });

  it("of as many devices as a file may describe are files that may be read", async () => {
    const folder = mkdtempSync(join(dir, "many-"));
    const names = Array.from({ length: 1_024 }, (_, n) => `${n}`);
    const files = aliasSpecs("svc-x", [spec("a.com/gpu", ...names.map((each) => device(each, `/dev/x${each}`)))]);
    writeAliases(folder, "svc-x", files);
    const { specs, faults } = await readSpecs([folder]);
    expect(faults).toEqual([]);
    const described = new Set(specs.flatMap(({ devices }) => devices.map(({ name }) => name)));
    expect(names.filter((each) => !described.has(each) || !described.has(`${each}:svc:rwm`))).toEqual([]);
  });

  it("are replaced, and removed when nothing is to be described", () => {
    const folder = join(dir, "aliases");
    const two = aliasSpecs("svc-x", [spec("a.com/gpu", device("0")), spec("b.com/gpu", device("0"))]);
    writeAliases(folder, "svc-x", two);
    writeFileSync(join(folder, "svc-x2-0.json"), "another provider's");
    expect(readdirSync(folder).sort()).toEqual(["svc-x-0.json", "svc-x-1.json", "svc-x2-0.json"]);
    expect(JSON.parse(readFileSync(join(folder, "svc-x-1.json"), "utf8"))).toMatchObject({
      kind: "svc-x.b.com/svc-gpu",
    });
    writeAliases(folder, "svc-x", new Map());
    expect(readdirSync(folder)).toEqual(["svc-x2-0.json"]);
    writeAliases(join(folder, "none"), "svc-x", new Map());
  });
});
