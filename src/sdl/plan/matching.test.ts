import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  type Attribute,
  AttributeSchema,
  PlacementRequirementsSchema,
} from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { type Candidate, hasCapabilities, meetsRequirements } from "./matching.ts";

type Pairs = Readonly<Record<string, string>>;

function attributes(pairs: Pairs): Attribute[] {
  return Object.entries(pairs).map(([key, value]) => create(AttributeSchema, { key, value }));
}

describe("requirements", () => {
  const candidate = (own: Pairs, signed: Readonly<Record<string, Pairs>> = {}): Candidate => ({
    attributes: attributes(own),
    signedBy: (auditor) => attributes(signed[auditor] ?? {}),
  });
  const meets = (required: Pairs, who: Candidate, signedBy: { allOf?: string[]; anyOf?: string[] } = {}) =>
    meetsRequirements(create(PlacementRequirementsSchema, { attributes: attributes(required), signedBy }), who);

  test("none are met by all", () => {
    expect(meetsRequirements(undefined, candidate({}))).toBe(true);
    expect(meets({}, candidate({}))).toBe(true);
  });

  test("attributes must be the provider's own", () => {
    expect(meets({ region: "eu" }, candidate({ region: "eu", tier: "home" }))).toBe(true);
    expect(meets({ region: "eu" }, candidate({ region: "us" }))).toBe(false);
    expect(meets({ "feature/*": "true" }, candidate({ "feature/a": "true" }))).toBe(true);
    expect(meets({ region: "eu" }, candidate({}, { carol: { region: "eu" } }), { allOf: ["carol"] })).toBe(false);
  });

  test("all of these auditors and one of those must have signed them", () => {
    const own = { region: "eu", tier: "home" };
    const asked = { allOf: ["a", "b"], anyOf: ["c", "d"] };
    const signed = { a: own, b: { region: "eu" }, d: { region: "eu", old: "x" } };
    expect(meets({ region: "eu" }, candidate(own, signed), asked)).toBe(true);
    expect(meets({ region: "eu", tier: "home" }, candidate(own, signed), asked)).toBe(false);
    expect(meets({ region: "eu" }, candidate(own, { ...signed, b: {} }), asked)).toBe(false);
    expect(meets({ region: "eu" }, candidate(own, { ...signed, d: {} }), asked)).toBe(false);
    expect(meets({ region: "eu" }, candidate(own, { c: own }), { anyOf: ["c"] })).toBe(true);
  });

  test("signatures over what has changed since do not count", () => {
    const signed = { carol: { region: "eu", tier: "home" } };
    expect(meets({ "reg*": "eu" }, candidate({ region: "eu" }, signed), { allOf: ["carol"] })).toBe(true);
    expect(meets({}, candidate({ region: "eu" }, signed), { allOf: ["carol"] })).toBe(true);
    expect(meets({}, candidate({ region: "us" }, signed), { allOf: ["carol"] })).toBe(false);
    const moved = { "zone/1": "eu", "zone/2": "eu" };
    expect(meets({ "zone/*": "eu" }, candidate(moved, { carol: { "zone/3": "eu" } }), { allOf: ["carol"] })).toBe(
      false,
    );
  });
});

describe("capabilities", () => {
  type Units = NonNullable<NonNullable<MessageInitShape<typeof GroupSpecSchema>["resources"]>[number]["resources"]>;
  const has = (resources: Units[], offered: Pairs) =>
    hasCapabilities(
      create(GroupSpecSchema, { resources: resources.map((each) => ({ resources: each })) }),
      attributes(offered),
    );
  const volume = (pairs: Pairs) => ({ name: "data", attributes: attributes(pairs) });
  const beta2 = { class: "beta2", persistent: "true" };

  test("are not needed for plain containers", () => {
    expect(has([], {})).toBe(true);
    expect(has([{ storage: [volume({}), volume({ class: "ram", persistent: "false" })] }], {})).toBe(true);
  });

  test("of storage: class and persistence of one offer", () => {
    const wants = [{ storage: [volume(beta2)] }];
    const offer = (n: number, pairs: Pairs) =>
      Object.fromEntries(Object.entries(pairs).map(([key, value]) => [`capabilities/storage/${n}/${key}`, value]));
    expect(has(wants, offer(1, beta2))).toBe(true);
    expect(has(wants, offer(7, { ...beta2, more: "x" }))).toBe(true);
    expect(has(wants, { ...offer(1, { class: "beta2" }), ...offer(2, { persistent: "true" }) })).toBe(false);
    expect(has(wants, offer(1, { ...beta2, class: "beta3" }))).toBe(false);
    expect(has(wants, beta2)).toBe(false);
    const two = [...wants, { storage: [volume({ ...beta2, class: "beta3" })] }];
    expect(has(two, offer(1, beta2))).toBe(false);
    expect(has(two, { ...offer(1, beta2), ...offer(2, { ...beta2, class: "beta3" }) })).toBe(true);
  });

  test("of graphics processors: any one of the models", () => {
    const wants = (...models: string[]) => [
      { gpu: { attributes: attributes(Object.fromEntries(models.map((model) => [`vendor/${model}`, "true"]))) } },
    ];
    const a100 = { "capabilities/gpu/vendor/nvidia/model/a100": "true" };
    expect(has(wants("nvidia/model/a100"), a100)).toBe(true);
    expect(has(wants("nvidia/model/t4", "nvidia/model/a100"), a100)).toBe(true);
    expect(has(wants("nvidia/model/*"), a100)).toBe(true);
    expect(has(wants("nvidia/model/t4"), a100)).toBe(false);
    expect(has(wants("amd/model/*"), a100)).toBe(false);
    expect(has(wants("nvidia/model/a100"), { "vendor/nvidia/model/a100": "true" })).toBe(false);
    expect(has([...wants("nvidia/model/a100"), ...wants("amd/model/mi300")], a100)).toBe(false);
    const connected = (model: string) => [
      { gpu: { attributes: attributes({ "interconnect/group": "auto", [`vendor/nvidia/model/${model}`]: "true" }) } },
    ];
    expect([has(connected("a100"), a100), has(connected("t4"), a100)]).toEqual([true, false]);
  });
});
