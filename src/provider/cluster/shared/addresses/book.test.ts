import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { seedFrom } from "../../../../../test/support/rng.ts";
import { formatLeaseId, type LeaseKey } from "../../../../wire/index.ts";
import { AddressBook, type AddressLedger, type Holding } from "./book.ts";

const POOL = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"];
const lease = (owner: string, dseq: number, gseq = 1): LeaseKey => {
  return { owner, dseq: BigInt(dseq), gseq, oseq: 1, provider: "svc1provider" };
};
const [ANNA, ALSO, BERT] = [lease("svc1anna", 1), lease("svc1anna", 2), lease("svc1bert", 1)];

/** A ledger that notes two leases at one address as a fault, and whose calls can fail before or after they take effect. */
class TestLedger implements AddressLedger {
  readonly entries = new Map<string, Holding>();
  readonly faults: string[] = [];
  fails: () => "before" | "after" | undefined = () => undefined;

  async take(holding: Holding): Promise<boolean> {
    return this.#call(() => {
      const found = this.entries.get(holding.address) ?? holding;
      if (textOf(found) === textOf(holding)) this.entries.set(holding.address, holding);
      return textOf(found) === textOf(holding);
    });
  }

  async change(from: Holding, to: Holding): Promise<boolean> {
    return this.#call(() => {
      const found = this.entries.get(from.address);
      const isKnown = found !== undefined && [textOf(from), textOf(to)].includes(textOf(found));
      if (isKnown) this.entries.set(to.address, to);
      else this.faults.push(`changed ${textOf(from)}, which is ${found === undefined ? "nobody's" : textOf(found)}`);
      return isKnown;
    });
  }

  async free(holding: Holding): Promise<void> {
    return this.#call(() => {
      const found = this.entries.get(holding.address);
      if (found !== undefined && textOf(found) === textOf(holding)) this.entries.delete(holding.address);
    });
  }

  async #call<T>(task: () => T): Promise<T> {
    await setImmediate();
    const when = this.fails();
    if (when === "before") throw new Error("the ledger is away");
    const result = task();
    if (when === "after") throw new Error("the answer got lost");
    return result;
  }
}

function textOf({ endpoint, address, leases }: Holding): string {
  return `${address} ${endpoint} ${leases.map(formatLeaseId).join(" ")}`;
}

function open(ledger = new TestLedger(), isForeign = (_: string) => false) {
  return {
    ledger,
    book: new AddressBook({ pool: POOL, ledger, foreign: () => isForeign }, [...ledger.entries.values()]),
  };
}

test("an owner has one address for each name, that of the deployment that was first", async () => {
  const { book } = open();
  await book.claim(ANNA, ["game", "voice"]);
  await book.claim(ALSO, ["game"]);
  await book.claim(BERT, ["game"]);
  expect(book.held(ANNA).map(({ endpoint, address }) => `${endpoint} ${address}`)).toEqual([
    "game 203.0.113.1",
    "voice 203.0.113.2",
  ]);
  expect([book.heldBy(ALSO), book.heldBy(BERT)]).toEqual([[], ["game"]]);
  await book.migrate(ALSO, ["game", "none"]);
  expect([book.heldBy(ANNA), book.held(ALSO)]).toEqual([
    ["voice"],
    [{ endpoint: "game", address: "203.0.113.1", leases: [ALSO] }],
  ]);
});

test("groups of one deployment share its address: it goes back with the last, and migrates from all", async () => {
  const { book, ledger } = open();
  const [second, third] = [lease("svc1anna", 1, 2), lease("svc1anna", 1, 3)];
  for (const id of [ANNA, second, third, ALSO]) await book.claim(id, ["game"]);
  const held = () =>
    [ANNA, second, third, ALSO].map((id) =>
      book
        .held(id)
        .map(({ address }) => address)
        .join(),
    );
  expect([...held(), ledger.entries.size]).toEqual([POOL[0], POOL[0], POOL[0], "", 1]);
  await book.retain(ANNA, []);
  expect([...held(), ledger.entries.size]).toEqual(["", POOL[0], POOL[0], "", 1]);
  expect(open(ledger).book.holdersOf("svc1anna", "game")).toEqual([second, third]);
  await book.migrate(ANNA, ["game"]);
  expect(held(), "to a sister means with her").toEqual([POOL[0], POOL[0], POOL[0], ""]);
  await book.migrate(ALSO, ["game"]);
  expect(held()).toEqual(["", "", "", POOL[0]]);
  await book.claim(second, ["game"]);
  expect(held()).toEqual(["", "", "", POOL[0]]);
  for (const id of [ALSO, ANNA]) await book.retain(id, []);
  expect([book.all(), ledger.entries.size]).toEqual([[], 0]);
});

test("the order of a group that is opened anew waits for the lease that its last one became", async () => {
  const { book } = open();
  const again = { ...ANNA, oseq: 2 };
  await book.claim(ANNA, ["game"]);
  await book.claim(again, ["game"]);
  expect(book.heldBy(again)).toEqual([]);
  await book.retain(ANNA, []);
  await book.claim(again, ["game"]);
  expect(book.heldBy(again)).toEqual(["game"]);
});

test("a claim that fails takes nothing of a sister's address", async () => {
  const { book, ledger } = open();
  const sister = lease("svc1anna", 1, 2);
  await book.claim(ANNA, ["game", "aa", "bb"]);
  await expect(book.claim(sister, ["game", "cc", "dd"])).rejects.toThrow(/no IP address is left/);
  expect([book.heldBy(sister), book.heldBy(ANNA), ledger.entries.size]).toEqual([[], ["game", "aa", "bb"], 3]);
});

test("an address that was given back is given out again last", async () => {
  const { book } = open();
  await book.claim(ANNA, ["game"]);
  await book.retain(ANNA, []);
  await book.claim(BERT, ["a", "b", "c"]);
  expect(book.held(BERT).map(({ address }) => address)).toEqual(POOL.slice(1));
  await book.claim(BERT, ["d"]);
  expect(book.held(BERT).at(-1)?.address).toBe(POOL[0]);
});

test("what others use is given to nobody", async () => {
  const { book, ledger } = open(new TestLedger(), (address) => address === POOL[0]);
  ledger.entries.set("203.0.113.2", { endpoint: "x", address: "203.0.113.2", leases: [lease("svc1elsewhere", 1)] });
  await book.claim(ANNA, ["a", "b"]);
  expect(book.held(ANNA).map(({ address }) => address)).toEqual(POOL.slice(2));
  await expect(book.claim(BERT, ["c"])).rejects.toThrow(/no IP address is left/);
});

test("a claim whose answer got lost keeps no address from others for ever", async () => {
  const { book, ledger } = open();
  ledger.fails = () => "after";
  await expect(book.claim(ANNA, ["game"])).rejects.toThrow(/got lost/);
  ledger.fails = () => undefined;
  await book.claim(ANNA, ["game"]);
  expect([...ledger.entries.values()]).toEqual(book.all());
  ledger.fails = () => "after";
  await expect(book.retain(ANNA, [])).rejects.toThrow(/got lost/);
  ledger.fails = () => undefined;
  await book.migrate(ALSO, ["game"]);
  expect([...ledger.entries.values()]).toEqual(book.all());
});

test("an address that cannot be given back now keeps nobody from another one, and is given to nobody", async () => {
  const { book, ledger } = open();
  await book.claim(ANNA, ["game"]);
  ledger.free = () => Promise.reject(new Error("still being removed"));
  await expect(book.retain(ANNA, [])).rejects.toThrow(/still being removed/);
  await book.claim(BERT, ["a", "b", "c"]);
  await expect(book.claim(BERT, ["d"])).rejects.toThrow(/no IP address is left/);
  await book.claim(ANNA, ["game"]);
  expect(book.held(ANNA)).toEqual([{ endpoint: "game", address: POOL[0], leases: [ANNA] }]);
});

test("two records of one name after a crash: the later one counts, and the other goes", async () => {
  const ledger = new TestLedger();
  for (const address of [POOL[2], POOL[1]]) {
    if (address !== undefined) ledger.entries.set(address, { endpoint: "game", address, leases: [ANNA] });
  }
  const { book } = open(ledger);
  expect(book.held(ANNA).map(({ address }) => address)).toEqual([POOL[1]]);
  await book.claim(BERT, []);
  expect([...ledger.entries.keys()]).toEqual([POOL[1]]);
});

test("a hundred leases that come, migrate and go at once, with failures and crashes, share addresses with sisters alone", async () => {
  const rng = seedFrom("SVC_TEST_SEED");
  const ledger = new TestLedger();
  let { book } = open(ledger);
  const chance = (share: number) => rng.next() < share;
  const owners = ["svc1anna", "svc1bert", "svc1carl"];
  const names = ["game", "voice"];
  for (let round = 0; round < 100; round++) {
    ledger.fails = () => (chance(0.15) ? (chance(0.5) ? "before" : "after") : undefined);
    const steps = Array.from({ length: 5 }, () => {
      const id = lease(owners[rng.below(3)] ?? "", 1 + rng.below(3), 1 + rng.below(2));
      const some = names.filter(() => chance(0.6));
      const kind = rng.below(3);
      return kind === 0 ? book.claim(id, some) : kind === 1 ? book.retain(id, some) : book.migrate(id, some);
    });
    await Promise.allSettled(steps);
    const addresses = book.all().map(({ address }) => address);
    expect(new Set(addresses).size).toBe(addresses.length);
    for (const { leases } of book.all()) {
      expect(new Set(leases.map(({ owner, dseq }) => `${owner}/${dseq}`)).size).toBe(1);
      expect(new Set(leases.map(({ gseq }) => gseq)).size, "each group once").toBe(leases.length);
    }
    if (chance(0.2)) ({ book } = open(ledger));
  }
  ledger.fails = () => undefined;
  for (const id of book.holders()) await book.retain(id, []);
  await book.claim(lease("svc1anna", 9), []);
  expect([ledger.faults, [...ledger.entries.values()]]).toEqual([[], []]);
});
