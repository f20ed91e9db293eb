import { coin } from "../../support/chain/index.ts";
import type { GenesisFile } from "../../support/index.ts";
import { strangerAddress } from "./large.ts";

const EACH = 1_000_000n;

/** An account with its balance. */
export interface Holder {
  readonly address: string;
  readonly coins: readonly { readonly denom: string; readonly amount: string }[];
}

/** Adds this many accounts with their own coins before the existing ones. */
export function addStrangers(genesis: GenesisFile, count: number): void {
  addHolders(
    genesis,
    Array.from({ length: count }, (_, i) => ({ address: strangerAddress(i), coins: [coin(EACH)] })),
  );
}

/** Adds accounts before the existing ones; the chain numbers them after these, in their order. */
export function addHolders({ app_state }: GenesisFile, holders: readonly Holder[]): void {
  const { auth, bank } = app_state;
  const accounts = holders.map(({ address }, i) => ({
    "@type": "/sdk.auth.v1beta1.BaseAccount",
    address,
    pub_key: null,
    account_number: `${1_000 + i}`,
    sequence: "0",
  }));
  const balances = holders.map(({ address, coins }) => ({ address, coins }));
  app_state.auth = { ...auth, accounts: [...listOf(auth?.accounts), ...accounts] };
  // Without a supply, it is the sum of the balances.
  app_state.bank = { ...bank, supply: [], balances: [...listOf(bank?.balances), ...balances] };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
