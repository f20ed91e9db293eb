import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../../util/index.ts";
import { GroupSpecSchema } from "../../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { ORDER_REASONS } from "../../reasons.ts";
import { refusal } from "./filters.ts";

const NOTHING = {
  attributes: [],
  signedBy: () => [],
  tenantAttributes: [],
  gpus: false,
  leasedIps: false,
  leastMemory: 0n,
};
const val = (amount: bigint) => ({ val: toUtf8(amount.toString()) });

function asking(key: string) {
  const resources = { cpu: { units: val(100n) }, memory: { quantity: val(1n << 26n) }, gpu: { units: val(0n) } };
  return create(GroupSpecSchema, {
    requirements: { attributes: [{ key, value: "x" }] },
    resources: [{ resources, count: 1 }],
  });
}

describe("an attribute that this provider does not have", () => {
  it.each([
    ["region", "change or remove the attribute"],
    ["tee/type", "remove tee:"],
    ["capabilities/gpu-interconnect", "remove interconnect:"],
  ])("is refused with what the tenant can do: %s", (key, advice) => {
    const refused = refusal(asking(key), NOTHING);
    expect(refused?.message).toContain(`the order requires attribute ${key}=x`);
    expect(ORDER_REASONS[refused?.reason as keyof typeof ORDER_REASONS].advice).toContain(advice);
  });
});
