import { fromBase64, fromUtf8, toBase64, toUtf8 } from "../../util/index.ts";
import { keyringErrors } from "../errors.ts";

/** The JSON of an item inside encrypted files, wallets and password stores, with the names of the ecosystem's tools. */
export function encodeItemJson(key: string, data: Uint8Array): Uint8Array {
  const item = {
    Key: key,
    Data: toBase64(data),
    Label: "",
    Description: "",
    KeychainNotTrustApplication: false,
    KeychainNotSynchronizable: false,
  };
  return toUtf8(JSON.stringify(item));
}

/** The data of an item. `place` names where it was found, for errors. */
export function decodeItemJson(bytes: Uint8Array, place: string): Uint8Array {
  try {
    const item: { readonly Data?: unknown } | null = JSON.parse(fromUtf8(bytes));
    if (typeof item?.Data !== "string") throw new Error("it has no data");
    return fromBase64(item.Data);
  } catch {
    // The text of the fault could hold a part of the item, which is a secret.
    throw keyringErrors.damaged(`${place} does not hold a key`);
  }
}
