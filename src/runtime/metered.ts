import type { KVStore, Range } from "../store/index.ts";
import type { GasMeter } from "./gas.ts";

/** Gas of store operations (module auth, parameter `store_gas`). */
export interface GasCosts {
  readonly has: bigint;
  readonly delete: bigint;
  readonly readFlat: bigint;
  readonly readByte: bigint;
  readonly writeFlat: bigint;
  readonly writeByte: bigint;
  readonly iterateFlat: bigint;
}

/** A store whose operations consume gas; bytes counted are those of key and value. */
export function meteredStore(store: KVStore, gas: GasMeter, costs: GasCosts): KVStore {
  const size = (key: Uint8Array, value: Uint8Array | undefined) => BigInt(key.length + (value?.length ?? 0));
  return {
    get(key) {
      gas.consume(costs.readFlat, "ReadFlat");
      const value = store.get(key);
      gas.consume(costs.readByte * size(key, value), "ReadPerByte");
      return value;
    },
    has(key) {
      gas.consume(costs.has, "Has");
      return store.has(key);
    },
    set(key, value) {
      gas.consume(costs.writeFlat, "WriteFlat");
      gas.consume(costs.writeByte * size(key, value), "WritePerByte");
      store.set(key, value);
    },
    delete(key) {
      gas.consume(costs.delete, "Delete");
      store.delete(key);
    },
    *iterate(range: Range) {
      for (const entry of store.iterate(range)) {
        gas.consume(costs.iterateFlat + costs.readByte * size(entry[0], entry[1]), "IterNextCostFlat");
        yield entry;
      }
    },
  };
}
