import { describe, expect, it, test } from "vitest";
import type { ObservedPod } from "./pods.ts";
import { milliQuantity, quantity } from "./quantity.ts";
import { Slots } from "./slots.ts";

test.each<readonly [string, bigint]>([
  ["0", 0n],
  ["100m", 100n],
  ["1.5", 1_500n],
  ["64Mi", 64_000n << 20n],
  ["1.5Gi", 1_536_000n << 20n],
  ["1e3", 1_000_000n],
  ["12E-1", 1_200n],
  ["3E", 3n * 10n ** 21n],
  ["100k", 100_000_000n],
  ["1Ei", 1_000n << 60n],
])("the quantity %s", (text, milli) => {
  expect(milliQuantity(text)).toBe(milli);
  expect(quantity(text)).toBe(milli / 1_000n);
});

test.each(["", "-1", "1x", "0x10", "1KI", "1e999", `${"9".repeat(25)}`, "NaN", null, 7, {}])(
  "%j is no quantity",
  (text) => {
    expect(milliQuantity(text)).toBe(0n);
  },
);

function pod(uid: string, over: Partial<ObservedPod> = {}): ObservedPod {
  return {
    namespace: "a",
    name: uid,
    uid,
    service: "web",
    config: "",
    createdAt: 0,
    ordinal: undefined,
    placed: true,
    terminating: false,
    ended: false,
    ip: undefined,
    ready: true,
    probed: false,
    running: true,
    container: "",
    restarts: 0,
    ownRestarts: 0,
    waiting: undefined,
    exit: undefined,
    trouble: undefined,
    ...over,
  };
}

describe("the numbers of replicas", () => {
  const shown = (slots: ReadonlyMap<number, ObservedPod>) =>
    [...slots].sort(([a], [b]) => a - b).map(([number, { uid }]) => `${number}=${uid}`);

  it("go by age at first, and stay while a pod lives", () => {
    const slots = new Slots();
    const [a, b, c] = [pod("a", { createdAt: 2 }), pod("b", { createdAt: 1 }), pod("c", { createdAt: 3 })];
    expect(shown(slots.assign([a, b, c], 3))).toEqual(["0=b", "1=a", "2=c"]);
    expect(shown(slots.assign([a, c], 3))).toEqual(["1=a", "2=c"]);
    expect(shown(slots.assign([a, c, pod("d", { createdAt: 4 })], 3))).toEqual(["0=d", "1=a", "2=c"]);
  });

  it("are not given to a new pod before an old one goes", () => {
    const slots = new Slots();
    const [a, b] = [pod("a"), pod("b", { createdAt: 1 })];
    expect(shown(slots.assign([a, b], 1))).toEqual(["0=a"]);
    expect(shown(slots.assign([pod("a", { terminating: true }), b], 1))).toEqual(["0=b"]);
  });

  it("begin at zero again where there are fewer replicas", () => {
    const slots = new Slots();
    const all = ["a", "b", "c"].map((uid, createdAt) => pod(uid, { createdAt }));
    slots.assign(all, 3);
    expect(shown(slots.assign(all.slice(2), 1))).toEqual(["0=c"]);
  });

  it("are the cluster's where it numbers pods itself, and none of those that have ended", () => {
    const slots = new Slots();
    expect(shown(slots.assign([pod("a", { ordinal: 1 }), pod("b", { ended: true })], 2))).toEqual(["1=a"]);
  });
});
