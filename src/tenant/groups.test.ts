import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { amount } from "../../test/support/chain/index.ts";
import { parseDec } from "../util/index.ts";
import { type GroupSpec, GroupSpecSchema } from "../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { groupDifferences } from "./groups.ts";

interface GroupOptions {
  readonly name?: string;
  readonly attributes?: { readonly key: string; readonly value: string }[];
  readonly anyOf?: string[];
  readonly count?: number;
  readonly price?: string;
  readonly cpu?: number;
  readonly memory?: number;
  readonly volume?: { readonly name: string; readonly size: number; readonly persistent: boolean };
  readonly endpoints?: readonly number[];
}

/** A group of one row. */
function group(options: GroupOptions = {}): GroupSpec {
  const { name = "east", attributes = [], anyOf = [], count = 1, price = "1", endpoints = [0] } = options;
  const { cpu = 100, memory = 128 << 20, volume = { name: "default", size: 512 << 20, persistent: false } } = options;
  const persistent = volume.persistent ? [{ key: "persistent", value: "true" }] : [];
  const units = {
    id: 1,
    cpu: { units: amount(cpu) },
    memory: { quantity: amount(memory) },
    storage: [{ name: volume.name, quantity: amount(volume.size), attributes: persistent }],
    gpu: { units: amount(0) },
    endpoints: endpoints.map((kind) => ({ kind })),
  };
  return create(GroupSpecSchema, {
    name,
    requirements: { signedBy: { allOf: [], anyOf }, attributes },
    resources: [{ resources: units, count, price: { denom: "utoken", amount: parseDec(price).toString() } }],
  });
}

const changes = (options: GroupOptions): string[] => groupDifferences([group()], [group(options)], () => "web");

describe("differences of groups", () => {
  test("none between equal ones", () => {
    expect(groupDifferences([group(), group({ name: "west" })], [group(), group({ name: "west" })])).toEqual([]);
  });

  test("groups that came and went", () => {
    expect(groupDifferences([group()], [group({ name: "west" })])).toEqual([
      "group east is missing from the file",
      "group west is new in the file",
    ]);
  });

  test("are shown with both values, by the names of services", () => {
    expect(changes({ count: 3 })).toEqual(["group east: web count was 1 and is 3"]);
    expect(changes({ price: "2.5" })).toEqual(["group east: web price was 1 utoken and is 2.5 utoken"]);
    expect(changes({ cpu: 250 })).toEqual(["group east: web cpu was 100m and is 250m"]);
    expect(changes({ memory: 64 << 20 })).toEqual(["group east: web memory was 128Mi and is 64Mi"]);
    expect(changes({ endpoints: [0, 1] })).toEqual(["group east: web port endpoints 1 was added"]);
    expect(changes({ volume: { name: "data", size: 1 << 30, persistent: true } })).toEqual([
      "group east: web storage default 512Mi was removed",
      "group east: web storage data 1Gi (persistent=true) was added",
    ]);
  });

  test("of requirements", () => {
    expect(changes({ attributes: [{ key: "region", value: "eu" }], anyOf: ["svc1auditor"] })).toEqual([
      "group east: attribute region eu was added",
      "group east: signedBy anyOf svc1auditor was added",
    ]);
  });

  test("a resource without a known service has its number", () => {
    expect(groupDifferences([group()], [group({ count: 2 })])).toEqual(["group east: resource 1 count was 1 and is 2"]);
  });
});
