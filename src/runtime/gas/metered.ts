import type { Entry, KVStore, Range } from "../../store/index.ts";
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

/** A store whose operations consume gas; the counted bytes are those of key and value. */
export function meteredStore(store: KVStore, gas: GasMeter, costs: GasCosts): KVStore {
  return new MeteredStore(store, gas, costs);
}

class MeteredStore implements KVStore {
  readonly #store: KVStore;
  readonly #gas: GasMeter;
  readonly #costs: GasCosts;

  constructor(store: KVStore, gas: GasMeter, costs: GasCosts) {
    this.#store = store;
    this.#gas = gas;
    this.#costs = costs;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#gas.consume(this.#costs.readFlat, "ReadFlat");
    const value = this.#store.get(key);
    this.#gas.consume(this.#costs.readByte * sizeOf(key, value), "ReadPerByte");
    return value;
  }

  has(key: Uint8Array): boolean {
    this.#gas.consume(this.#costs.has, "Has");
    return this.#store.has(key);
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#gas.consume(this.#costs.writeFlat, "WriteFlat");
    this.#gas.consume(this.#costs.writeByte * sizeOf(key, value), "WritePerByte");
    this.#store.set(key, value);
  }

  delete(key: Uint8Array): void {
    this.#gas.consume(this.#costs.delete, "Delete");
    this.#store.delete(key);
  }

  *iterate(range?: Range): IterableIterator<Entry> {
    for (const entry of this.#store.iterate(range)) {
      this.#gas.consume(
        this.#costs.iterateFlat + this.#costs.readByte * sizeOf(entry[0], entry[1]),
        "IterNextCostFlat",
      );
      yield entry;
    }
  }
}

function sizeOf(key: Uint8Array, value: Uint8Array | undefined): bigint {
  return BigInt(key.length + (value?.length ?? 0));
}
