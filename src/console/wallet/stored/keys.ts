import { errorText } from "../../../util/index.ts";
import { walletErrors } from "../errors.ts";
import { readSealedKeys, type SealedKey } from "../sealed.ts";
import { inStore, type Store } from "./database.ts";

const KEYS: Store = { database: "svc-console", name: "keys", key: "address" };

/** The keys that this browser keeps for this origin, by their addresses. */
export async function storedKeys(): Promise<SealedKey[]> {
  const records = await inKeys("readonly", (store) => store.getAll());
  return readSealedKeys(Array.isArray(records) ? records : []);
}

/** Keeps a key; one of the same address is replaced. */
export async function storeKey(key: SealedKey): Promise<void> {
  await inKeys("readwrite", (store) => store.put(key));
}

export async function removeKey(address: string): Promise<void> {
  await inKeys("readwrite", (store) => store.delete(address));
}

async function inKeys(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  try {
    return await inStore(KEYS, mode, ask);
  } catch (error) {
    throw walletErrors.stored(errorText(error));
  }
}
