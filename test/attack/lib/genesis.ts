import { coin } from "../../../src/testing/index.ts";
import type { GenesisFile } from "../../support/index.ts";
import { strangerAddress } from "./large.ts";

const EACH = 1_000_000n;

/** Puts so many accounts with coins of their own before those that are there. */
export function addStrangers({ app_state }: GenesisFile, count: number): void {
  const { auth, bank } = app_state;
  const addresses = Array.from({ length: count }, (_, i) => strangerAddress(i));
  const accounts = addresses.map((address, i) => ({
    "@type": "/sdk.auth.v1beta1.BaseAccount",
    address,
    pub_key: null,
    account_number: `${1_000 + i}`,
    sequence: "0",
  }));
  const balances = addresses.map((address) => ({ address, coins: [coin(EACH)] }));
  app_state.auth = { ...auth, accounts: [...listOf(auth?.accounts), ...accounts] };
  // Without a supply, it is the sum of the balances.
  app_state.bank = { ...bank, supply: [], balances: [...listOf(bank?.balances), ...balances] };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
