import type { TouchedAccounts } from "../abci/index.ts";
import type { CacheMultiStore } from "../store/index.ts";
import { toHex } from "../util/index.ts";

/** The account whose checks a change of a key affects; `all` for every account, undefined for none. */
export type AccountOf = (key: Uint8Array) => Uint8Array | "all" | undefined;

/** The accounts whose waiting transactions a block may have made invalid, by the keys that it changed. */
export function touchedAccounts(
  changed: CacheMultiStore,
  accountsOf: Readonly<Record<string, AccountOf>>,
): TouchedAccounts {
  const touched = new Set<string>();
  for (const [name, store] of changed.touched()) {
    const accountOf = accountsOf[name];
    if (accountOf === undefined) continue;
    for (const [key] of store.changes()) {
      const account = accountOf(key);
      if (account === "all") return "all";
      if (account !== undefined) touched.add(toHex(account));
    }
  }
  return touched;
}
