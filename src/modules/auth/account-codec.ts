import type { Account } from "../../runtime/index.ts";
import type { ValueCodec } from "../../store/index.ts";
import { assert } from "../../util/index.ts";
import { decodeAminoPublicKey, encodeAminoPublicKey } from "../../wire/index.ts";

/** Stored fields of an account; the address is the key. */
export type StoredAccount = Omit<Account, "address">;

const PLAIN = 0;
const MODULE = 1;
const VESTING = 2;
/** Kind, account number, sequence. */
const HEADER = 1 + 8 + 8;

/**
 * Accounts are read and written with every transaction, so they have a compact form: a byte for the kind, number and
 * sequence in eight bytes each, and then either the public key in amino form (nothing while it is unknown) or the
 * module's name and permissions with commas between.
 */
export const accountValue: ValueCodec<StoredAccount> = {
  encode({ number, sequence, publicKey, module, isVesting = false }) {
    const rest = module === undefined ? publicKeyBytes(publicKey) : moduleBytes(module);
    const out = Buffer.allocUnsafe(HEADER + rest.length);
    out[0] = module !== undefined ? MODULE : isVesting ? VESTING : PLAIN;
    writeUint64(out, number, 1);
    writeUint64(out, sequence, 9);
    out.set(rest, HEADER);
    return out;
  },
  decode(bytes) {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const head = { number: readUint64(view, 1), sequence: readUint64(view, 9) };
    if (view[0] === MODULE) {
      const [name = "", ...permissions] = view.toString("utf8", HEADER).split(",");
      return { ...head, publicKey: undefined, module: { name, permissions } };
    }
    assert(view[0] === PLAIN || view[0] === VESTING, "the stored account has a known kind");
    const publicKey = view.length === HEADER ? undefined : decodeAminoPublicKey(view.subarray(HEADER));
    return view[0] === VESTING ? { ...head, publicKey, isVesting: true } : { ...head, publicKey };
  },
};

/** Whether the stored account has locked coins, told by its first byte alone. */
export function isStoredVesting(bytes: Uint8Array | undefined): boolean {
  return bytes?.[0] === VESTING;
}

const NOTHING = new Uint8Array(0);

function publicKeyBytes(publicKey: Account["publicKey"]): Uint8Array {
  return publicKey === undefined ? NOTHING : encodeAminoPublicKey(publicKey);
}

function moduleBytes({ name, permissions }: NonNullable<Account["module"]>): Uint8Array {
  return Buffer.from([name, ...permissions].join(","), "utf8");
}

/**
 * Numbers are nearly always below 2^53, and the 64-bit accessors of Buffer are several times slower than two 32-bit
 * ones.
 */
function writeUint64(out: Buffer, value: bigint, offset: number): void {
  out.writeUInt32BE(Number(value >> 32n), offset);
  out.writeUInt32BE(Number(value & 0xffff_ffffn), offset + 4);
}

function readUint64(bytes: Buffer, offset: number): bigint {
  const high = bytes.readUInt32BE(offset);
  const low = bytes.readUInt32BE(offset + 4);
  return high < 0x20_0000 ? BigInt(high * 0x1_0000_0000 + low) : (BigInt(high) << 32n) | BigInt(low);
}
