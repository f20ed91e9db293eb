import type { IntCoin } from "../util/index.ts";
import type { PublicKey } from "../wire/index.ts";

/** A signer of a waiting transaction. */
export interface ClaimingSigner {
  /** Names the account between application and engine; not for people. */
  readonly account: string;
  readonly sequence: bigint;
  /** The key that came with the transaction. */
  readonly publicKey?: PublicKey | undefined;
}

/** Coins and sequences that a transaction reserves while it waits for a block. */
export interface Claim {
  /** Each account once; the first is the sender. */
  readonly signers: readonly ClaimingSigner[];
  /** One of the signers, or an account that lets the first of them spend its coins on fees. */
  readonly payer: string;
  /** Names the grant, if the payer is not a signer: all waiting transactions spend from it together. */
  readonly allowance?: string | undefined;
  readonly fee: readonly IntCoin[];
  /** Fee for a unit of gas times 10^18; of several denominations the least. */
  readonly gasPrice: bigint;
  /** The last height at which it may come into a block; 0 = any. */
  readonly timeoutHeight: bigint;
}

/** Total reservations of all waiting transactions on one account. */
export interface Claimed {
  /** Number of transactions that it signs. */
  readonly txs: bigint;
  /** Reserved fees by denomination. */
  readonly spent: ReadonlyMap<string, bigint>;
  /** Its key, from the first transaction that brought it. */
  readonly publicKey: PublicKey | undefined;
}

/**
 * Reservations of waiting transactions on accounts. The next transaction is checked as if the earlier ones were in a
 * block, without writing state; when a transaction leaves, its claim is subtracted, whatever its position.
 */
export class Claims {
  readonly #accounts = new Map<string, Sums>();

  of(account: string): Claimed | undefined {
    return this.#accounts.get(account);
  }

  add({ signers, fee, ...from }: Claim): void {
    for (const { account, publicKey } of signers) {
      const sums = this.#sums(account);
      sums.txs += 1n;
      sums.publicKey ??= publicKey;
    }
    if (fee.length > 0) for (const source of sourcesOf(from)) addCoins(this.#sums(source).spent, fee, 1n);
  }

  /** Gives back what `add` took. */
  release({ signers, fee, ...from }: Claim): void {
    for (const source of sourcesOf(from)) {
      const paying = this.#accounts.get(source);
      if (paying === undefined) continue;
      addCoins(paying.spent, fee, -1n);
      this.#forget(source, paying);
    }
    for (const { account } of signers) {
      const sums = this.#accounts.get(account);
      if (sums === undefined) continue;
      sums.txs -= 1n;
      this.#forget(account, sums);
    }
  }

  #forget(account: string, { txs, spent }: Sums): void {
    if (txs <= 0n && spent.size === 0) this.#accounts.delete(account);
  }

  clear(): void {
    this.#accounts.clear();
  }

  #sums(account: string): Sums {
    let sums = this.#accounts.get(account);
    if (sums === undefined) {
      sums = { txs: 0n, spent: new Map(), publicKey: undefined };
      this.#accounts.set(account, sums);
    }
    return sums;
  }
}

interface Sums extends Claimed {
  txs: bigint;
  readonly spent: Map<string, bigint>;
  publicKey: PublicKey | undefined;
}

function sourcesOf({ payer, allowance }: Pick<Claim, "payer" | "allowance">): string[] {
  return allowance === undefined ? [payer] : [payer, allowance];
}

function addCoins(sums: Map<string, bigint>, coins: readonly IntCoin[], factor: bigint): void {
  for (const { denom, amount } of coins) {
    const sum = (sums.get(denom) ?? 0n) + factor * amount;
    if (sum === 0n) sums.delete(denom);
    else sums.set(denom, sum);
  }
}
