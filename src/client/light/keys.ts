import { concatBytes, fromHex, toUtf8, uint64ToBytes } from "../../util/index.ts";
import { type AccountKey, type BidKey, decodeAddress, type GroupKey, type OrderKey } from "../../wire/index.ts";

/** Keys of records in the stores of the chain: the byte of the collection, and the parts of the key. */

/** Key of a module's parameters. */
export const PARAMS_KEY = Uint8Array.of(0);

export function recordKey(prefix: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return concatBytes(Uint8Array.of(prefix), ...parts);
}

/** Bytes after their length. */
export function bytesPart(bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(bytes.length), bytes);
}

export function addressPart(address: string, kind: "account" | "valoper" = "account"): Uint8Array {
  return bytesPart(decodeAddress(address, kind));
}

/** Text with a zero byte behind it. */
export function textPart(text: string): Uint8Array {
  return concatBytes(toUtf8(text), Uint8Array.of(0));
}

function uint32Part(value: number): Uint8Array {
  return uint64ToBytes(BigInt(value)).subarray(4);
}

/** Owner and number of a deployment. */
export function deploymentPart({ owner, dseq }: Pick<GroupKey, "owner" | "dseq">): Uint8Array {
  return concatBytes(addressPart(owner), uint64ToBytes(dseq));
}

export function groupPart(id: GroupKey): Uint8Array {
  return concatBytes(deploymentPart(id), uint32Part(id.gseq));
}

export function orderPart(id: OrderKey): Uint8Array {
  return concatBytes(groupPart(id), uint32Part(id.oseq));
}

export function bidPart(id: BidKey): Uint8Array {
  return concatBytes(orderPart(id), addressPart(id.provider));
}

/** The number's bytes after their count. */
export function serialPart(serial: bigint): Uint8Array {
  const hex = serial.toString(16);
  return bytesPart(fromHex(hex.length % 2 === 0 ? hex : `0${hex}`));
}

/** Texts with a slash behind each, as people write the ids. */
export function escrowPart({ scope, xid }: AccountKey, ...payment: readonly string[]): Uint8Array {
  return toUtf8([scope, xid, ...payment].map((text) => `${text}/`).join(""));
}
