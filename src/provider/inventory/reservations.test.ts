import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { DEC_ONE, silentLogger, toUtf8 } from "../../util/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { encodeAddress, formatOrderId, type LeaseKey } from "../../wire/index.ts";
import { Inventory } from "./inventory.ts";
import { type ReconcileRequest, reconcileReservations } from "./reservations.ts";
import { groupNeeds } from "./resources.ts";

const US = encodeAddress(new Uint8Array(20).fill(1));
const TENANT = encodeAddress(new Uint8Array(20).fill(2));
const val = (amount: bigint) => ({ val: toUtf8(amount.toString()) });
const group = create(GroupSpecSchema, {
  resources: [{ resources: { id: 1, cpu: { units: val(100n) }, memory: { quantity: val(1n) } }, count: 1 }],
});
const rows = groupNeeds(group);

function lease(dseq: bigint): LeaseKey {
  return { owner: TENANT, dseq, gseq: 1, oseq: 1, provider: US };
}

const order = (dseq: bigint) => formatOrderId(lease(dseq));
const price = { denom: "utoken", amount: DEC_ONE };

interface Chain {
  readonly active?: readonly bigint[];
  readonly bids?: Readonly<Record<string, "open" | "active" | "lost" | "closed">>;
  readonly fails?: boolean;
  /** Runs while the chain is asked for a bid. */
  readonly meanwhile?: () => void;
}

function setUp({ active = [], bids = {}, fails = false, meanwhile }: Chain, keep: () => ReadonlySet<string>) {
  const inventory = new Inventory({
    overcommit: { cpu: 0, memory: 0, storage: 0 },
    portQuantity: 10,
    ledger: { record: () => {}, durable: () => Promise.resolve() },
  });
  inventory.observe({ nodes: [{ name: "a", cpu: 1_000n, memory: 1_000n, storage: [], gpus: [] }], storage: [] });
  const ask = <T>(value: T): Promise<T> => (fails ? Promise.reject(new Error("no answer")) : Promise.resolve(value));
  const chain: ReconcileRequest["chain"] = {
    activeLeases: () =>
      ask(
        active.map((dseq) => {
          const times = { createdAt: 1n, closedOn: 0n };
          return { id: lease(dseq), state: "active" as const, price, ...times, closeReason: "" };
        }),
      ),
    bid: (id) => {
      meanwhile?.();
      const state = bids[id.dseq.toString()];
      return ask(state && { id, state, price, createdAt: 1n });
    },
    group: (id) => ask({ gseq: id.gseq, state: "open", spec: group, createdAt: 1n, closeReason: "" }),
  };
  const reconcile = () => reconcileReservations({ inventory, chain, provider: US, keep, log: silentLogger });
  const held = () => inventory.all().map((each) => `${each.order} ${each.state}`);
  return { inventory, reconcile, held };
}

const nothing = () => new Set<string>();

test("a lease that runs without a reservation gets one, and a pending one becomes active", async () => {
  const { inventory, reconcile, held } = setUp({ active: [1n, 2n] }, nothing);
  inventory.reserve(order(2n), rows);
  await reconcile();
  expect(held().toSorted()).toEqual([`${order(1n)} active`, `${order(2n)} active`]);
});

test("a reservation goes when its bid is over or not there, and stays while it is open or kept", async () => {
  const bids = { 1: "open", 2: "lost", 3: "closed", 4: "closed", 5: "active" } as const;
  const { inventory, reconcile, held } = setUp({ bids }, () => new Set([order(4n)]));
  for (const dseq of [1n, 2n, 3n, 4n, 5n, 6n]) inventory.reserve(order(dseq), rows);
  await reconcile();
  expect(held()).toEqual([order(1n), order(4n), order(5n)].map((each) => `${each} pending`));
});

test("a reservation whose bid goes on its way while the chain is asked stays", async () => {
  const kept = new Set<string>();
  const { inventory, reconcile, held } = setUp({ meanwhile: () => kept.add(order(1n)) }, () => kept);
  inventory.reserve(order(1n), rows);
  await reconcile();
  expect(held()).toEqual([`${order(1n)} pending`]);
});

test("a chain that does not answer changes nothing", async () => {
  const { inventory, reconcile, held } = setUp({ fails: true }, nothing);
  inventory.reserve(order(1n), rows);
  await expect(reconcile()).rejects.toThrow("no answer");
  expect(held()).toEqual([`${order(1n)} pending`]);
});
