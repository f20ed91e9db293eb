import type { PublicKey } from "../../wire/index.ts";

/** An account as the ante checks and the modules see it. */
export interface Account {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Assigned once, in the order in which accounts are created. */
  readonly number: bigint;
  /** Number of transactions that the account has signed; the next one carries this value. */
  readonly sequence: bigint;
  /** Known since the first transaction. */
  readonly publicKey: PublicKey | undefined;
  /** Set on accounts of a module, which have no key. */
  readonly module?: { readonly name: string; readonly permissions: readonly string[] } | undefined;
  /** Whether some of its coins vest with time; the locked coins are stored apart. */
  readonly isVesting?: boolean;
}
