import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { groupSpec } from "../../../test/support/chain/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { groupNeeds } from "./resources.ts";

it("reads kinds of GPU from the attributes", () => {
  const group = create(GroupSpecSchema, groupSpec("web"));
  const gpu = group.resources[0]?.resources?.gpu;
  const key = "vendor/nvidia/model/a100/ram/80Gi";
  if (gpu !== undefined) gpu.attributes = [{ $typeName: "svc.base.v1beta1.Attribute", key, value: "true" }];
  expect(groupNeeds(group)[0]?.gpuKinds).toEqual([{ vendor: "nvidia", model: "a100", ram: "80Gi" }]);
});

it("reads as zero what the chain reads as zero", () => {
  const group = create(GroupSpecSchema, groupSpec("web"));
  const gpu = group.resources[0]?.resources?.gpu?.units;
  expect(groupNeeds(group)).toMatchObject([{ cpu: 100n, memory: 128n << 20n, gpu: 0n }]);
  for (const [digits, amount] of [
    ["", 0n],
    ["2", 2n],
  ] as const) {
    if (gpu !== undefined) gpu.val = Buffer.from(digits);
    expect(groupNeeds(group)[0]?.gpu).toBe(amount);
  }
  if (gpu !== undefined) gpu.val = Buffer.from("2.5");
  expect(() => groupNeeds(group)).toThrow("malformed resource amount");
});
