import { inStore, type Store } from "./database.ts";

const SESSIONS: Store = { database: "svc-console-sessions", name: "sessions", key: "address" };

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
