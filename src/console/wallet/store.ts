import { errorText } from "../../util/index.ts";
import { walletErrors } from "./errors.ts";
import { readSealedKeys, type SealedKey } from "./sealed.ts";

/** A list of records in this browser, by their addresses. */
interface Place {
  readonly database: string;
  readonly list: string;
}

const KEYS: Place = { database: "svc-console", list: "keys" };
const SESSIONS: Place = { database: "svc-console-sessions", list: "sessions" };

/** The keys that this browser keeps for this origin, by their addresses. */
export async function storedKeys(): Promise<SealedKey[]> {
  const records: unknown = await inStore(KEYS, "readonly", (store) => store.getAll());
  return readSealedKeys(Array.isArray(records) ? records : []);
}

/** Keeps a key; one of the same address is replaced. */
export async function storeKey(key: SealedKey): Promise<void> {
  await inStore(KEYS, "readwrite", (store) => store.put(key));
}

export async function removeKey(address: string): Promise<void> {
  await inStore(KEYS, "readwrite", (store) => store.delete(address));
}

/** The record of an account's session at gateways; undefined if there is none. */
export function storedSession(address: string): Promise<unknown> {
  return inStore(SESSIONS, "readonly", (store) => store.get(address));
}

/** Keeps a session with its key, which the browser gives to no script. */
export async function storeSession(session: { readonly address: string }): Promise<void> {
  await inStore(SESSIONS, "readwrite", (store) => store.put(session));
}

/** Removes the sessions of all accounts, or of all but one. */
export async function removeSessions(kept?: string): Promise<void> {
  await inStore(SESSIONS, "readwrite", (store) => {
    if (kept === undefined) return store.clear();
    store.delete(IDBKeyRange.upperBound(kept, true));
    return store.delete(IDBKeyRange.lowerBound(kept, true));
  });
}

/** Runs requests, and resolves with the result of the last when they are on disk. */
async function inStore(
  { database: name, list }: Place,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const database = await opened(name, list);
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(list, mode);
      const request = ask(transaction.objectStore(list));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(walletErrors.stored(errorText(transaction.error)));
      transaction.onabort = transaction.onerror;
    });
  } finally {
    database.close();
  }
}

function opened(name: string, list: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(list, { keyPath: "address" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(walletErrors.stored(errorText(request.error)));
  });
}
