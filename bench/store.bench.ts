/**
 * Costs of the state store, as CPU time (user and system), which other work on the machine disturbs less than wall time.
 *
 *   npm run bench -- store [keys ...]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  addressKey,
  bigintValue,
  CacheStore,
  collection,
  type Database,
  memoryDatabase,
  openLmdb,
  StateStore,
  stringKey,
  tupleKey,
  type Write,
} from "../src/store/index.ts";
import { SparseMerkleTree } from "../src/store/tree/smt.ts";

const SENDS = 2000;
const balances = collection({
  name: "balance",
  prefix: 2,
  key: tupleKey(addressKey, stringKey),
  value: bigintValue,
});

function measure<T>(name: string, count: number, work: () => T): T {
  const wall = performance.now();
  const cpu = process.cpuUsage();
  const result = work();
  const used = process.cpuUsage(cpu);
  const each = (used.user + used.system) / count;
  console.log(
    `${name.padEnd(58)} ${each.toFixed(2).padStart(9)} us cpu  ${(((performance.now() - wall) * 1000) / count).toFixed(2).padStart(9)} us wall`,
  );
  return result;
}

function address(n: number): Uint8Array {
  const out = Buffer.alloc(20);
  // A multiplication that spreads the numbers, so that neighbours are unrelated, like real addresses.
  out.writeUInt32BE(Math.imul(n + 1, 2654435761) >>> 0, 0);
  out.writeUInt32BE(n, 16);
  return out;
}

function* entries(count: number): IterableIterator<[Uint8Array, Uint8Array]> {
  for (let n = 0; n < count; n++) yield [balances.storeKey([address(n), "utoken"]), Buffer.from("1000000000")];
}

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function treeBench(keys: number): void {
  const before = memory();
  const tree = new SparseMerkleTree();
  measure(`tree: build of ${keys} keys, per key`, keys, () => tree.apply(tree.update(entries(keys))));
  console.log(`tree: memory ${((memory() - before) / keys).toFixed(0)} bytes a key, ${tree.innerCount} inner nodes`);
  for (const batch of [10, 1000, 8000]) {
    const rounds = Math.max(3, 20000 / batch);
    measure(`tree: batches of ${batch} of ${keys} keys, per updated key`, rounds * batch, () => {
      for (let round = 0; round < rounds; round++) {
        const changes = Array.from({ length: batch }, (_, i): [Uint8Array, Uint8Array] => [
          balances.storeKey([address((round * 7919 + i * 104729) % keys), "utoken"]),
          Buffer.from(`${round} ${i}`),
        ]);
        tree.apply(tree.update(changes));
      }
    });
  }
}

function cacheBench(): void {
  const base = new CacheStore(memoryDatabase().table("t"));
  const keys = Array.from({ length: 20000 }, (_, n) => balances.storeKey([address(n), "utoken"]));
  const value = Buffer.from("1000000000");
  measure("cache: set", keys.length, () => {
    for (const key of keys) base.set(key, value);
  });
  const branch = base.branch().branch();
  measure("cache: get through three layers", keys.length, () => {
    for (const key of keys) branch.get(key);
  });
  measure("cache: branch, 4 sets, flush", keys.length, () => {
    for (let i = 0; i + 4 <= keys.length; i += 4) {
      const tx = base.branch();
      for (const key of keys.slice(i, i + 4)) tx.set(key, value);
      tx.flush();
    }
  });
  let n = 20000;
  measure("cache: new key, then walk 10 entries over 20000", 5000, () => {
    for (let i = 0; i < 5000; i++) {
      n += 1;
      base.set(balances.storeKey([address(n), "utoken"]), value);
      let steps = 0;
      for (const _ of base.iterate({ start: balances.storeKey([address(n), ""]) })) {
        steps += 1;
        if (steps === 10) break;
      }
    }
  });
}

/** A block of sends: each reads and writes two balances and a sequence in its own branch. */
function executeBlock(state: StateStore, height: number, accounts: number): Write[] {
  const branch = state.branch();
  const alongside: Write[] = [];
  for (let i = 0; i < SENDS; i++) {
    const tx = branch.branch();
    const from = address((height * 7919 + i * 104729) % accounts);
    const to = address((height * 104729 + i * 7919) % accounts);
    for (const [who, change] of [
      [from, -1n],
      [to, 1n],
    ] as const) {
      const bank = tx.store("bank");
      balances.set(bank, [who, "utoken"], (balances.get(bank, [who, "utoken"]) ?? 0n) + change);
    }
    const auth = tx.store("auth");
    balances.set(auth, [from, "sequence"], (balances.get(auth, [from, "sequence"]) ?? 0n) + 1n);
    tx.flush();
    alongside.push({ table: "tx", key: Buffer.from(`${height}/${i}`), value: Buffer.alloc(400) });
  }
  measure("  working hash, per send", SENDS, () => state.workingHash(branch));
  const prepared = state.workingHash(branch);
  measure("  commit, per send", SENDS, () => state.commit(BigInt(height), prepared, { writes: alongside }));
  return alongside;
}

function stateBench(name: string, database: Database, accounts: number): void {
  const genesis = StateStore.open(database, ["auth", "bank"]);
  const branch = genesis.branch();
  for (const [key, value] of entries(accounts)) branch.store("bank").set(key, value);
  const prepared = genesis.workingHash(branch);
  measure(`${name}: genesis commit, per key`, accounts, () => genesis.commit(1n, prepared));
  const state = measure(`${name}: open and check, per key`, accounts, () =>
    StateStore.open(database, ["auth", "bank"]),
  );
  const keys = Array.from({ length: 10000 }, (_, i) => balances.storeKey([address((i * 104729) % accounts), "utoken"]));
  for (const time of ["first", "second"]) {
    measure(`${name}: ${time} get of a key`, keys.length, () => {
      for (const key of keys) state.store("bank").get(key);
    });
  }
  for (let height = 2; height < 6; height++) {
    measure(`${name}: block of ${SENDS} sends (working hash taken twice), per send`, SENDS, () =>
      executeBlock(state, height, accounts),
    );
  }
}

const sizes = process.argv.slice(2).map(Number);
cacheBench();
for (const keys of sizes.length > 0 ? sizes : [100_000, 1_000_000]) treeBench(keys);
stateBench("memory", memoryDatabase(), 100_000);
const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
try {
  const database = openLmdb(directory);
  stateBench("LMDB", database, 100_000);
  database.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
