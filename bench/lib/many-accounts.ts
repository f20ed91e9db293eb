import { createHash } from "node:crypto";
import { encodeAddress, type Namespace } from "../../src/wire/index.ts";

const BALANCE = "1000000000000";

export type AppState = Readonly<Record<string, Record<string, unknown>>>;

/** Addresses without keys, the same in every run. */
export function addressesAtRandom(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, i) =>
    encodeAddress(createHash("sha256").update(`account ${i}`).digest().subarray(0, 20), "account", prefix),
  );
}

/** Adds accounts with balances to a state in place; their numbers follow the existing ones. */
export function addAccounts(
  { auth, bank }: AppState,
  addresses: readonly string[],
  { denom, namespace }: { readonly denom: string; readonly namespace: Namespace },
): void {
  if (auth === undefined || bank === undefined) throw new Error("the state has no accounts and balances");
  const type = `/${namespace}.auth.v1beta1.BaseAccount`;
  const [accounts, balances] = [auth.accounts as unknown[], bank.balances as unknown[]];
  const head = { "@type": type, pub_key: null, sequence: "0" };
  auth.accounts = accounts.concat(
    addresses.map((address, i) => ({ ...head, address, account_number: `${accounts.length + i}` })),
  );
  bank.balances = balances.concat(addresses.map((address) => ({ address, coins: [{ denom, amount: BALANCE }] })));
  // Without a supply, it is the sum of the balances.
  bank.supply = [];
}
