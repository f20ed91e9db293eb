import type { KeyCodec } from "../../store/index.ts";
import { fromUtf8, toUtf8 } from "../../util/index.ts";
import type { AccountKey } from "../../wire/index.ts";

/**
 * Keys are the texts people meet, each part followed by a slash: `deployment/svc1.../12/`. So a text cut at a slash
 * is the beginning of exactly the keys below it.
 */
export const pathKey: KeyCodec<string, string> = {
  size: (path) => Buffer.byteLength(path),
  write(path, out, offset) {
    const bytes = toUtf8(path);
    out.set(bytes, offset);
    return offset + bytes.length;
  },
  read(cursor) {
    const text = fromUtf8(cursor.bytes.subarray(cursor.offset));
    cursor.offset = cursor.bytes.length;
    return text;
  },
  prefix: (path) => toUtf8(path),
};

export function accountKey({ scope, xid }: AccountKey): string {
  return `${scope}/${xid}/`;
}

export function paymentKey(account: AccountKey, payment: string): string {
  return `${accountKey(account)}${payment}/`;
}
