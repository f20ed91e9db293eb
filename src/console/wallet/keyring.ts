import * as v from "valibot";
import { fromBase64, fromUtf8, toBase64 } from "../../util/index.ts";
import { SignMode, secp256k1PublicKey } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import { askedParts, directTx } from "./signed.ts";
import { checkChain, type Wallet } from "./wallet.ts";

/** A key of the keyring with which the server of the page signs, after its user has agreed at the terminal. */
export interface KeyringKey {
  readonly name: string;
  readonly address: string;
  /** The compressed point in base64. */
  readonly publicKey: string;
}

export interface KeyringParts {
  readonly chainId: string;
  /** The answer of the server to a call; rejects with its sentence. */
  readonly call: (path: "sign" | "sign/session", body: object) => Promise<unknown>;
}

const answer = v.object({ signature: v.string() });

/** The account of a key of the keyring. */
export function keyringWallet({ name, address, publicKey: text }: KeyringKey, { chainId, call }: KeyringParts): Wallet {
  const publicKey = secp256k1PublicKey(fromBase64(text));
  const signMode = SignMode.DIRECT;
  const signed = async (path: "sign" | "sign/session", body: object): Promise<Uint8Array> => {
    const read = v.safeParse(answer, await call(path, { account: address, ...body }));
    if (!read.success) throw walletErrors.badAnswer();
    return fromBase64(read.output.signature);
  };
  return {
    kind: "keyring",
    ...{ name, address, publicKey, chainId, signMode, lacks: {} },
    async signTx(tx) {
      checkChain({ chainId }, tx);
      const direct = { ...tx, signMode };
      const parts = askedParts(direct, publicKey);
      const [bodyBytes, authInfoBytes] = [parts.bodyBytes, parts.authInfoBytes].map(toBase64);
      const accountNumber = String(tx.signer.accountNumber);
      const signature = await signed("sign", { signDoc: { bodyBytes, authInfoBytes, chainId, accountNumber } });
      return directTx(direct, publicKey, { parts, given: { key: publicKey.key, signature } });
    },
    text: { algorithm: "ES256K", sign: (bytes) => signed("sign/session", { input: fromUtf8(bytes) }) },
    onChange: () => () => undefined,
  };
}
