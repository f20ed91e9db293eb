import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClusterCapacity, NodeCapacity, StoragePool } from "../cluster/index.ts";
import { Inventory, type Reservation, type ReservationLedger } from "./inventory.ts";
import type { RowNeed } from "./resources.ts";

const GIB = 1n << 30n;
const node = (name: string, cores = 4n) => ({
  name,
  cpu: cores * 1000n,
  memory: 8n * GIB,
  storage: [{ classes: "all" as const, bytes: 100n * GIB }],
  gpus: [],
});
const cluster = (...nodes: NodeCapacity[]): ClusterCapacity => ({ nodes, storage: [] });
const row = (change: Partial<RowNeed> = {}): RowNeed => ({
  id: 1,
  count: 1n,
  cpu: 1000n,
  memory: GIB,
  gpu: 0n,
  gpuKinds: [],
  volumes: [{ bytes: GIB, class: "", persistent: false }],
  endpoints: 1,
  ports: 0,
  leasedIps: [],
  ...change,
});

const NO_LEDGER: ReservationLedger = { record: () => {}, durable: () => Promise.resolve() };

function make(change: Partial<ConstructorParameters<typeof Inventory>[0]> = {}): Inventory {
  const overcommit = { cpu: 0, memory: 0, storage: 0 };
  const inventory = new Inventory({ overcommit, portQuantity: 3, ledger: NO_LEDGER, ...change });
  inventory.observe(cluster(node("a"), node("b", 2n)));
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

  it.each<[string, (seen: ClusterCapacity) => ClusterCapacity, boolean]>([
    ["nothing new", (seen) => ({ ...seen }), false],
    ["less", () => cluster(node("a", 1n)), false],
    ["a node", ({ nodes, ...rest }) => ({ nodes: [...nodes, node("c")], ...rest }), true],
    ["cores", () => cluster(node("a"), node("b", 3n)), true],
    ["a class of storage", (seen) => ({ ...seen, storage: [{ classes: ["beta2"], bytes: GIB }] }), true],
    [
      "GPUs",
      ({ nodes, ...rest }) => ({
        nodes: nodes.map((each) => ({ ...each, gpus: [{ vendor: "nvidia", model: "t4", count: 1n }] })),
        ...rest,
      }),
      true,
    ],
  ])("tells whether there is more: %s", (_, next, expected) => {
    expect(make().observe(next(cluster(node("a"), node("b", 2n))))).toBe(expected);
  });

  it("looks at each full node once for all replicas of a service", () => {
    let looks = 0;
    const classes = ["ephemeral"];
    classes.includes = (name) => {
      looks += 1;
      return name === "ephemeral";
    };
    const nodes = Array.from({ length: 100 }, (_, i) => ({
      ...node(`n${i}`, 1_000n),
      memory: 1_000n * GIB,
      storage: [{ classes, bytes: i === 99 ? 1_000n * GIB : 0n }],
    }));
    const inventory = make();
    inventory.observe(cluster(...nodes));
    inventory.checkRoom([row({ count: 50n })]);
    // The tenant chooses the replicas, and strangers ask: a hundred nodes and fifty replicas, not a hundred for each.
    expect(looks).toBeLessThan(400);
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

  it("counts leased addresses once for all services that share one", () => {
    const inventory = make({ addressesPerOwner: 2 });
    inventory.observe({ ...cluster(node("a"), node("b")), addresses: 2 });
    inventory.reserve("o1", [row({ leasedIps: [1, 1] }), row({ id: 2, leasedIps: [1] })]);
    expect(() => inventory.reserve("o2", [row({ leasedIps: [1, 2] })])).toThrow(
      "insufficient capacity: 2 leased ips wanted, 1 of 2 left",
    );
    expect(() => inventory.checkRoom([row({ leasedIps: [1, 2] })])).toThrow("2 leased ips wanted");
    expect(
      [
        [1, 2],
        [1, 2, 3],
      ].map((leasedIps) => inventory.couldFit([row({ leasedIps })])),
    ).toEqual([true, false]);
    inventory.reserve("o2", [row({ leasedIps: [1] })]);
    inventory.observe({ ...cluster(node("a"), node("b")), addresses: 1 });
    expect(() => inventory.reserve("o3", [row({ leasedIps: [1] })])).toThrow("1 leased ips wanted, 0 of 1 left");
    inventory.reserve("o3", [row()]);
  });

  it("counts a leased address once for all groups of a deployment that share it", () => {
    const inventory = make();
    inventory.observe({ ...cluster(node("a"), node("b")), addresses: 2 });
    inventory.reserve("anna/1/1/1", [row({ leasedIps: [1] })]);
    inventory.reserve("anna/1/2/1", [row({ leasedIps: [1] })]);
    expect(inventory.addressesLeft()).toBe(1);
    inventory.reserve("bert/1/1/1", [row({ leasedIps: [1] })]);
    inventory.release("anna/1/1/1");
    expect(() => inventory.reserve("carl/1/1/1", [row({ leasedIps: [1] })])).toThrow(
      "1 leased ips wanted, 0 of 2 left",
    );
    inventory.release("anna/1/2/1");
    inventory.reserve("carl/1/1/1", [row({ leasedIps: [1] })]);
  });

  it.each([
    [undefined, 2],
    [1, 1],
    [3, 3],
    [9, 3],
  ])("gives one tenant no more leased addresses than one may have: %s of three", (addressesPerOwner, most) => {
    const inventory = make({ addressesPerOwner });
    inventory.observe({ ...cluster(node("a"), node("b")), addresses: 3 });
    const wish = [row({ cpu: 1n, leasedIps: [1] })];
    for (let dseq = 1; dseq <= most; dseq++) inventory.reserve(`anna/${dseq}/1/1`, wish);
    const refusal = most === 3 ? "0 of 3 left" : `its tenant has ${most} of the ${most} that one tenant may have`;
    expect(() => inventory.reserve("anna/9/1/1", wish)).toThrow(
      `insufficient capacity: 1 leased ips wanted, ${refusal}`,
    );
    inventory.reserve("anna/1/2/1", wish);
    inventory.reserve("anna/9/1/1", [row({ cpu: 1n })]);
    if (most < 3) inventory.reserve("bert/1/1/1", wish);
    const many = [row({ leasedIps: [1, 2, 3] })];
    expect(inventory.couldFit(many), "it would never fit").toBe(most === 3);
  });

  it("counts volumes of memory as memory", () => {
    const inventory = make();
    inventory.reserve("o1", [row({ volumes: [{ bytes: 2n * GIB, class: "ram", persistent: false }] })]);
    expect(inventory.available()[0]).toMatchObject({ memory: 5n * GIB, storage: 100n * GIB });
  });

  it("takes a running lease over even where the cluster has shrunk", () => {
    const inventory = make();
    inventory.observe(cluster(node("a", 1n)));
    inventory.hold("o1", [row({ cpu: 3000n })], "active");
    expect(inventory.available()[0]?.cpu).toBe(-2000n);
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
        const saved = new Map<string, Reservation>();
        const record = (order: string, reservation: Reservation | null) => {
          if (reservation === null) saved.delete(order);
          else saved.set(order, reservation);
        };
        const inventory = make({ ledger: { ...NO_LEDGER, record } });
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
        const options = { overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 3, ledger: NO_LEDGER };
        const restarted = new Inventory(options, [...saved.values()]);
        restarted.observe(cluster(node("a"), node("b", 2n)));
        expect(restarted.available()).toEqual(inventory.available());
      }),
    );
  });
});

describe("storage classes", () => {
  const volume = (name: string, size: bigint) => ({ bytes: size * GIB, class: name, persistent: name !== "" });
  const pool = (classes: string[], size: bigint) => ({ classes, bytes: size * GIB });
  const places = (...storage: StoragePool[]) => ({ ...node("a"), storage });
  const seen = (capacity: ClusterCapacity) => {
    const inventory = make();
    inventory.observe(capacity);
    return inventory;
  };

  it("have room of their own, and what does not persist has its own too", () => {
    const inventory = seen(cluster(places(pool(["ephemeral"], 10n), pool(["beta2", "beta3"], 20n))));
    inventory.reserve("o1", [row({ volumes: [volume("", 8n), volume("beta2", 12n)] })]);
    expect(() => inventory.reserve("o2", [row({ volumes: [volume("beta3", 9n)] })])).toThrow(
      "insufficient capacity: 9Gi of storage class beta3 wanted per replica, at most 8Gi left on a node",
    );
    inventory.reserve("o2", [row({ volumes: [volume("", 2n), volume("beta3", 8n)] })]);
    expect(inventory.available()[0]?.storage).toBe(0n);
  });

  it("that the cluster lacks never fit, however empty it is", () => {
    const inventory = seen(cluster(places(pool(["ephemeral"], 100n))));
    const rows = [row({ volumes: [volume("beta1", 1n)] })];
    expect(() => inventory.reserve("o1", rows)).toThrow("1Gi of storage class beta1 wanted per replica, at most 0");
    expect(inventory.couldFit(rows)).toBe(false);
  });

  it("may be the whole cluster's: nodes share the room", () => {
    const nodes = ["a", "b"].map((name) => ({ ...node(name, 2n), storage: [pool(["ephemeral"], 5n)] }));
    const inventory = seen({ nodes, storage: [pool(["beta2"], 10n)] });
    inventory.reserve("o1", [row({ count: 3n, volumes: [volume("beta2", 3n)] })]);
    expect(inventory.all()[0]?.placement).toEqual([["a", "a", "b"]]);
    expect(() => inventory.reserve("o2", [row({ volumes: [volume("beta2", 2n)] })])).toThrow("at most 1Gi left");
  });
});

describe("kinds of GPU", () => {
  const gpu = (model: string, count: bigint) => ({ vendor: "nvidia", model, count });
  const wants = (units: bigint, ...models: string[]) =>
    row({ gpu: units, gpuKinds: models.map((model) => ({ vendor: "nvidia", model })) });
  const withGpus = () => {
    const inventory = make();
    const nodes = [
      { ...node("a"), gpus: [gpu("t4", 2n)] },
      { ...node("b"), gpus: [gpu("t4", 1n), gpu("a100", 2n)] },
    ];
    inventory.observe(cluster(...nodes));
    return inventory;
  };

  it("are taken from a node that has enough of one of those asked for", () => {
    const inventory = withGpus();
    inventory.reserve("o1", [wants(2n, "a100")]);
    inventory.reserve("o2", [wants(1n, "*")]);
    expect(inventory.all().map(({ placement, gpus }) => [placement, gpus])).toEqual([
      [[["b"]], [["nvidia/a100"]]],
      [[["a"]], [["nvidia/t4"]]],
    ]);
    expect(inventory.available().map((left) => left.gpu)).toEqual([1n, 1n]);
    expect(() => inventory.reserve("o3", [wants(1n, "a100", "h100")])).toThrow(
      "insufficient capacity: gpu 1 of nvidia/a100 or nvidia/h100 wanted per replica, at most 0 left on a node",
    );
    inventory.release("o1");
    inventory.reserve("o3", [wants(1n, "a100")]);
  });

  it("that the cluster lacks never fit; without any it has none", () => {
    const inventory = withGpus();
    expect([inventory.hasGpus, make().hasGpus]).toEqual([true, false]);
    expect(inventory.couldFit([wants(1n, "h100")])).toBe(false);
    expect(inventory.couldFit([wants(2n, "a100")])).toBe(true);
    expect(inventory.couldFit([wants(3n, "*")])).toBe(false);
  });
});
