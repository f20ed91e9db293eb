import { expect, it } from "vitest";
import { Inventory } from "./inventory.ts";
import type { RowNeed } from "./resources.ts";

const MIB = 1n << 20n;

/** 16 cores, 16 GiB of memory, and storage that two nodes have in common; half is for open bids, a quarter of it for one tenant. */
function make(bidShare: number | undefined = 25): Inventory {
  const ledger = { record: () => {}, durable: () => Promise.resolve() };
  const inventory = new Inventory({
    overcommit: { cpu: 0, memory: 0, storage: 0 },
    portQuantity: 16,
    ledger,
    bidShare,
  });
  const node = (name: string) => ({ name, cpu: 8_000n, memory: 8_192n * MIB, storage: [], gpus: [] });
  const storage = [{ classes: "all" as const, bytes: 16_384n * MIB }];
  inventory.observe({ nodes: [node("a"), node("b")], storage });
  return inventory;
}

const row = (change: Partial<RowNeed>): RowNeed[] => {
  const nothing = { cpu: 1n, memory: MIB, gpu: 0n, gpuKinds: [], volumes: [], endpoints: 0, ports: 0, leasedIps: [] };
  return [{ id: 1, count: 1n, ...nothing, ...change }];
};
const WANT = {
  cpu: row({ cpu: 1_000n }),
  memory: row({ memory: 1_024n * MIB }),
  storage: row({ volumes: [{ bytes: 1_024n * MIB, class: "beta2", persistent: true }] }),
  ports: row({ ports: 1 }),
} as const;

it.each([
  ["cpu", "cpu 1000m wanted, open bids hold 8000m of the 8000m that they may"],
  ["memory", "memory 1Gi wanted, open bids hold 8Gi of the 8Gi that they may"],
  ["storage", "storage 1Gi wanted, open bids hold 8Gi of the 8Gi that they may"],
  ["ports", "ports 1 wanted, open bids hold 8 of the 8 that they may"],
] as const)("open bids hold at most half of the %s, and leases may have all of it", (resource, reason) => {
  const inventory = make();
  for (let at = 0; at < 8; at++) inventory.reserve(`owner${at}/1/1/1`, WANT[resource]);
  expect(() => inventory.reserve("late/1/1/1", WANT[resource])).toThrow(`insufficient capacity: ${reason}`);
  for (let at = 0; at < 8; at++) inventory.promote(`owner${at}/1/1/1`);
  for (let at = 8; at < 16; at++) inventory.reserve(`owner${at}/1/1/1`, WANT[resource]);
  expect(inventory.all()).toHaveLength(16);
});

it("open bids of one tenant hold at most its share of the half, until it accepts one", () => {
  const inventory = make();
  for (let dseq = 1; dseq <= 2; dseq++) inventory.reserve(`anna/${dseq}/1/1`, WANT.cpu);
  expect(() => inventory.reserve("anna/3/1/1", WANT.cpu)).toThrow(
    "cpu 1000m wanted, open bids of its tenant hold 2000m of the 2000m that they may",
  );
  inventory.reserve("bert/1/1/1", WANT.cpu);
  inventory.promote("anna/1/1/1");
  inventory.reserve("anna/3/1/1", WANT.cpu);
});

it("a deployment that is alone gets its bids, however large it is", () => {
  const inventory = make();
  const large = row({ cpu: 6_000n });
  inventory.reserve("anna/1/1/1", large);
  inventory.reserve("anna/1/2/1", large);
  expect(() => inventory.reserve("bert/1/1/1", WANT.cpu)).toThrow("open bids hold 12000m of the 8000m that they may");
  inventory.reserve("bert/1/1/1", row({ cpu: 0n, ports: 1 }));
  inventory.release("anna/1/1/1");
  inventory.release("anna/1/2/1");
  inventory.reserve("bert/2/1/1", WANT.cpu);
  inventory.reserve("anna/1/1/1", large);
  expect(() => inventory.reserve("carl/1/1/1", row({ cpu: 2_000n }))).toThrow("open bids hold 7000m of the 8000m");
});

it("limits the number of open bids in the same way, where there is money for so many more", () => {
  const inventory = make();
  for (let at = 0; at < 4; at++) inventory.reserve(`owner${at}/1/1/1`, WANT.cpu);
  expect(inventory.bidsExceeded("late/1/1/1", 5n)).toEqual({ whose: "all", most: 4n });
  expect(inventory.bidsExceeded("late/1/1/1", 6n)).toBeUndefined();
  expect(inventory.bidsExceeded("owner0/2/1/1", 6n)).toEqual({ whose: "owner", most: 1n });
});

it("has no limits on open bids unless they are set", () => {
  const ledger = { record: () => {}, durable: () => Promise.resolve() };
  const inventory = new Inventory({ overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 0, ledger });
  inventory.observe({
    nodes: [{ name: "a", cpu: 2_000n, memory: 2_048n * MIB, storage: [], gpus: [] }],
    storage: [],
  });
  inventory.reserve("anna/1/1/1", WANT.cpu);
  inventory.reserve("anna/2/1/1", WANT.cpu);
  expect(inventory.bidsExceeded("anna/3/1/1", 0n)).toBeUndefined();
});
