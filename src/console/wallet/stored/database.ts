/** A store of this browser for this origin: a database with one store, whose records have their key in a field. */
export interface Store {
  readonly database: string;
  readonly name: string;
  readonly key: string;
}

/** Runs requests, and resolves with the result of the last when they are on disk. Rejects with the browser's error. */
export async function inStore(
  store: Store,
  mode: IDBTransactionMode,
  ask: (records: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const database = await opened(store);
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(store.name, mode, { durability: "strict" });
      const request = ask(transaction.objectStore(store.name));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = transaction.onerror;
    });
  } finally {
    database.close();
  }
}

function opened({ database, name, key }: Store): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(name, { keyPath: key });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
