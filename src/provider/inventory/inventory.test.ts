import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Inventory, type Reservation } from "./inventory.ts";
import type { RowNeed } from "./resources.ts";

const GIB = 1n << 30n;
const node = (name: string, cores = 4n) => ({
  name,
  cpu: cores * 1000n,
  memory: 8n * GIB,
  storage: 100n * GIB,
  gpu: 0n,
});
const row = (change: Partial<RowNeed> = {}): RowNeed => ({
  id: 1,
  count: 1n,
  cpu: 1000n,
  memory: GIB,
  gpu: 0n,
  volumes: [{ bytes: GIB, class: "", persistent: false }],
  endpoints: 1,
  ports: 0,
  leasedIps: [],
  ...change,
});

function make(change: Partial<ConstructorParameters<typeof Inventory>[0]> = {}): Inventory {
  const overcommit = { cpu: 0, memory: 0, storage: 0 };
  const inventory = new Inventory({ overcommit, portQuantity: 3, save: () => {}, ...change });
  inventory.observe([node("a"), node("b", 2n)]);
  return inventory;
}

describe("the inventory", () => {
  it("fills the first node, then the next, then says what is short", () => {
    const inventory = make();
    inventory.reserve("o1", [row({ count: 6n })]);
    expect(inventory.all()[0]?.placement).toEqual([["a", "a", "a", "a", "b", "b"]]);
    expect(() => inventory.reserve("o2", [row({ cpu: 10n, memory: 20n * GIB })])).toThrow("cpu 10m wanted per replica");
    expect(() => inventory.reserve("o2", [row({ cpu: 0n, memory: 20n * GIB })])).toThrow(
      /memory \d+Gi wanted per replica, at most 6Gi left/,
    );
  });

  it("gives back what is released and keeps what is active", () => {
    const inventory = make();
    inventory.reserve("o1", [row({ count: 6n })]);
    inventory.release("o1");
    inventory.reserve("o2", [row({ count: 6n })]);
    inventory.promote("o2");
    expect(inventory.all().map(({ order, state }) => `${order} ${state}`)).toEqual(["o2 active"]);
  });

  it("promises more than there is where it may", () => {
    const inventory = make({ overcommit: { cpu: 50, memory: 0, storage: 0 } });
    inventory.reserve("o1", [row({ count: 9n, memory: 1n })]);
    expect(inventory.available().map(({ cpu }) => cpu)).toEqual([0n, 0n]);
  });

  it("counts node ports of all leases", () => {
    const inventory = make();
    inventory.reserve("o1", [row({ ports: 2 })]);
    expect(() => inventory.reserve("o2", [row({ ports: 2 })])).toThrow("2 node ports wanted, 1 of 3 left");
  });

  it("counts volumes of memory as memory", () => {
    const inventory = make();
    inventory.reserve("o1", [row({ volumes: [{ bytes: 2n * GIB, class: "ram", persistent: false }] })]);
    expect(inventory.available()[0]).toMatchObject({ memory: 5n * GIB, storage: 100n * GIB });
  });

  it("takes a running lease over even where the cluster has shrunk", () => {
    const inventory = make();
    inventory.observe([node("a", 1n)]);
    inventory.hold("o1", [row({ cpu: 3000n })], "active");
    expect(inventory.available()[0]?.cpu).toBe(-2000n);
  });

  it("forgets a reservation that could not be made durable", () => {
    let full = true;
    const save = () => {
      if (full) throw new Error("disk full");
    };
    const inventory = make({ save });
    expect(() => inventory.reserve("o1", [row()])).toThrow("disk full");
    full = false;
    expect(inventory.has("o1")).toBe(false);
  });

  it("never promises more than a node has, and loses nothing over restarts", () => {
    const step = fc.record({
      order: fc.nat(20),
      count: fc.integer({ min: 1, max: 3 }),
      cpu: fc.integer({ min: 10, max: 2000 }),
      release: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let saved: readonly Reservation[] = [];
        const save = (all: readonly Reservation[]) => {
          saved = all;
        };
        const inventory = make({ save });
        for (const { order, count, cpu, release } of steps) {
          if (release) inventory.release(`o${order}`);
          else {
            try {
              inventory.reserve(`o${order}`, [row({ count: BigInt(count), cpu: BigInt(cpu), memory: 1n })]);
            } catch (error) {
              expect(String(error)).toContain("insufficient capacity");
            }
          }
        }
        expect(inventory.available().every(({ cpu }) => cpu >= 0n)).toBe(true);
        const restarted = new Inventory(
          { overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 3, save },
          saved,
        );
        restarted.observe([node("a"), node("b", 2n)]);
        expect(restarted.available()).toEqual(inventory.available());
      }),
    );
  });
});
