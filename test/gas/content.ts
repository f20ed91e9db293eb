import { create } from "@bufbuild/protobuf";
import { GroupSpecSchema, type ResourceSchema } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { encodeMessage } from "../../src/wire/index.ts";
import { amount, type GroupInit, groupSpec, type Init, price } from "../support/chain/index.ts";
import { LIMITS } from "./limits.ts";

type Row = Init<typeof ResourceSchema>;

export interface Pair {
  readonly key: string;
  readonly value: string;
}

/** Attributes of the greatest length; `seed` makes their values differ. */
export function longAttributes(count: number, seed = ""): Pair[] {
  const { keyMax, valueMax } = LIMITS.attributes;
  return Array.from({ length: count }, (_, i) => ({
    key: `k${"/".repeat(keyMax - 5)}${String(i).padStart(4, "0")}`,
    value: `${seed}${"v".repeat(valueMax - seed.length)}`,
  }));
}

/** As many attributes as possible in few bytes: each costs as much to read as a long one. */
export function shortAttributes(count: number): Pair[] {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  return Array.from({ length: count }, (_, i) => ({
    key: `${letters[i % 26] ?? "a"}${letters[Math.floor(i / 26) % 26] ?? "a"}${letters[Math.floor(i / 676)] ?? ""}`,
    value: "",
  }));
}

export interface GroupContent {
  readonly auditors?: readonly string[];
  readonly required?: readonly Pair[];
  readonly price?: string;
}

/** A small group, with requirements where given. */
export function plainGroup(
  name: string,
  { auditors = [], required = [], price: text = "1" }: GroupContent = {},
): GroupInit {
  return {
    ...groupSpec(name, { price: text }),
    requirements: { signedBy: { allOf: [...auditors] }, attributes: [...required] },
  };
}

/** The group that is most expensive to read: small parts up to the largest encoding. */
export function fullGroup(name: string, content: GroupContent = {}): GroupInit {
  const group = plainGroup(name, content);
  const rows: Row[] = [];
  for (let id = 1; id <= LIMITS.rows; id++) {
    const row = fullRow(id);
    if (sizeOf({ ...group, resources: [...rows, row] }) > LIMITS.groupBytes) break;
    rows.push(row);
  }
  return { ...group, resources: rows };
}

function fullRow(id: number): Row {
  const attributes = shortAttributes(LIMITS.listAttributes);
  return {
    resources: {
      id,
      cpu: { units: amount(100), attributes },
      memory: { quantity: amount(128 << 20), attributes },
      storage: Array.from({ length: LIMITS.volumes }, (_, i) => ({ name: `v${i}`, quantity: amount(512 << 20) })),
      gpu: { units: amount(0) },
      endpoints: Array.from({ length: LIMITS.endpoints }, () => ({ kind: 0 })),
    },
    count: 1,
    price: price("1"),
  };
}

function sizeOf(group: GroupInit): number {
  return encodeMessage(GroupSpecSchema, create(GroupSpecSchema, group)).length;
}
