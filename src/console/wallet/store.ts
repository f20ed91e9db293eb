import { errorText } from "../../util/index.ts";
import { walletErrors } from "./errors.ts";
import { readSealedKeys, type SealedKey } from "./sealed.ts";

const DATABASE = "svc-console";
const KEYS = "keys";

/** The keys that this browser keeps for this origin, by their addresses. */
export async function storedKeys(): Promise<SealedKey[]> {
  const records: unknown = await inStore("readonly", (store) => store.getAll());
  return readSealedKeys(Array.isArray(records) ? records : []);
}

/** Keeps a key; one of the same address is replaced. */
export async function storeKey(key: SealedKey): Promise<void> {
  await inStore("readwrite", (store) => store.put(key));
}

export async function removeKey(address: string): Promise<void> {
  await inStore("readwrite", (store) => store.delete(address));
}

/** Runs one request, and resolves with its result when it is on disk. */
async function inStore(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(KEYS, mode);
      const request = ask(transaction.objectStore(KEYS));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(walletErrors.stored(errorText(transaction.error)));
      transaction.onabort = transaction.onerror;
    });
  } finally {
    database.close();
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(KEYS, { keyPath: "address" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(walletErrors.stored(errorText(request.error)));
  });
}
