import type { PreparedTx } from "../../client/index.ts";
import type { SessionConsent } from "../../crypto/index.ts";
import { isAddress, type SignMode, type SinglePublicKey } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";

/** Acts for which a wallet may lack the means. */
export type WalletAct = "transaction" | "text";

/** Reasons why a wallet never does an act; the pages have a sentence for each. */
export type WalletLack = "readOnly" | "onlyTransactions";

/** An account of a page: it signs only what its owner confirms. */
export interface Wallet {
  readonly kind: "address" | "local" | "extension" | "keyring" | "ledger";
  /** The owner's name for the account; a text of a stranger. */
  readonly name: string;
  readonly chainId: string;
  readonly address: string;
  readonly publicKey: SinglePublicKey | undefined;
  /** The form in which transactions are prepared for it. */
  readonly signMode: SignMode;
  readonly lacks: Readonly<Partial<Record<WalletAct, WalletLack>>>;
  /**
   * The signed transaction. Its fee and memo are the ones that the wallet has signed; everything else is as prepared.
   * Rejects with one of `walletErrors`.
   */
  signTx(tx: PreparedTx): Promise<Uint8Array>;
  /** Signs texts, such as sessions at gateways. Undefined where `lacks` names the reason. */
  readonly text: SessionConsent | undefined;
  /** Calls back when the account has changed, and the wallet signs no more. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
}

/** Refuses a transaction of another chain than the wallet's. */
export function checkChain({ chainId }: Pick<Wallet, "chainId">, { signer }: PreparedTx): void {
  if (signer.chainId !== chainId) throw walletErrors.otherChain(`${signer.chainId} instead of ${chainId}`);
}

/** An account that is only looked at. Throws `walletErrors.noAddress`. */
export function addressWallet(address: string, { chainId, signMode }: Pick<Wallet, "chainId" | "signMode">): Wallet {
  if (!isAddress(address, "account")) throw walletErrors.noAddress();
  return {
    kind: "address",
    name: "",
    chainId,
    address,
    publicKey: undefined,
    signMode,
    lacks: { transaction: "readOnly", text: "readOnly" },
    signTx: () => Promise.reject(walletErrors.readOnly()),
    text: undefined,
    onChange: () => () => undefined,
  };
}
