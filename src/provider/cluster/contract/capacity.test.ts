import { expect, test } from "vitest";
import { gpuName, isWantedGpu, parseGpuWish } from "./capacity.ts";

const A100 = { vendor: "nvidia", model: "a100", ram: "80Gi", interface: "sxm", count: 1n };

test.each([
  ["vendor/nvidia/model/*", true],
  ["vendor/nvidia/model/a100", true],
  ["vendor/nvidia/model/a100/ram/80Gi", true],
  ["vendor/nvidia/model/a100/ram/80Gi/interface/sxm", true],
  ["vendor/nvidia/model/a100/ram/40Gi", false],
  ["vendor/nvidia/model/a100/interface/pcie", false],
  ["vendor/nvidia/model/h100", false],
  ["vendor/amd/model/*", false],
])("a GPU that an order asks for as %s", (key, wanted) => {
  expect(isWantedGpu(A100, [parseGpuWish(key)])).toBe(wanted);
});

test("any GPU will do where none is named, and one of several is enough", () => {
  expect(isWantedGpu(A100, [])).toBe(true);
  expect(isWantedGpu(A100, ["vendor/nvidia/model/t4", "vendor/nvidia/model/a100"].map(parseGpuWish))).toBe(true);
  expect(gpuName(A100)).toBe("nvidia/a100/80Gi/sxm");
});
