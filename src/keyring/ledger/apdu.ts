import { assert } from "../../util/index.ts";
import type { DevicePath } from "../types.ts";
import { ledgerErrors } from "./errors.ts";

/** A command to a smart card (ISO 7816-4, short form without an expected length). */
export interface Apdu {
  readonly cla: number;
  readonly ins: number;
  readonly p1?: number;
  readonly p2?: number;
  /** At most 255 bytes. */
  readonly data?: Uint8Array;
}

export interface Answer {
  readonly data: Uint8Array;
  /** Status word, `0x9000` when all is well. */
  readonly status: number;
}

const MAX_DATA = 255;
const STATUS_LENGTH = 2;
const HARDENED = 0x8000_0000;
const PATH_ELEMENT = 4;

export function encodeApdu({ cla, ins, p1 = 0, p2 = 0, data = new Uint8Array() }: Apdu): Uint8Array {
  assert(data.length <= MAX_DATA, "the data of a command is at most 255 bytes");
  return Uint8Array.from([cla, ins, p1, p2, data.length, ...data]);
}

/** The two parts of an answer. */
export function decodeAnswer(bytes: Uint8Array): Answer {
  const end = bytes.length - STATUS_LENGTH;
  if (end < 0) throw ledgerErrors.badAnswer(`${bytes.length} bytes`);
  const [high = 0, low = 0] = bytes.subarray(end);
  return { data: bytes.subarray(0, end), status: high * 256 + low };
}

/** Five numbers of four bytes, little endian, the first three hardened. */
export function encodeDevicePath({ purpose, coinType, account, change, index }: DevicePath): Uint8Array {
  const numbers = [purpose + HARDENED, coinType + HARDENED, account + HARDENED, change ? 1 : 0, index];
  const bytes = new DataView(new ArrayBuffer(numbers.length * PATH_ELEMENT));
  for (const [i, number] of numbers.entries()) bytes.setUint32(i * PATH_ELEMENT, number, true);
  return new Uint8Array(bytes.buffer);
}

/** `m/44'/118'/0'/0/0`. */
export function formatDevicePath({ purpose, coinType, account, change, index }: DevicePath): string {
  return `m/${purpose}'/${coinType}'/${account}'/${change ? 1 : 0}/${index}`;
}
