import { assert, concatBytes } from "../../util/index.ts";
import { ledgerErrors } from "./errors.ts";
import { type ExchangeOptions, type LedgerTransport, MAX_ANSWER } from "./transport.ts";

/**
 * How commands and answers travel in USB reports: packets of 64 bytes with channel, tag and sequence number (big endian)
 * in front, and the length of the whole in the first; the last is filled up with zeros.
 */
export const PACKET_SIZE = 64;
const CHANNEL = 0x0101;
const TAG = 0x05;
const HEADER_SIZE = 5;
const LENGTH_SIZE = 2;
const MAX_LENGTH = 0xffff;

/** Vendor of the devices, and the usage page of their interface for applications; other interfaces are a keyboard or a security key. */
export const LEDGER_USB = { vendor: 0x2c97, usagePage: 0xffa0 } as const;
/** Reports have no number; a zero stands in its place. */
const REPORT_ID = 0;
/** Waits of some libraries cannot be ended from outside, so each is short. */
const POLL_MS = 250;

/** An open USB device. */
export interface HidHandle {
  write(values: number[]): Promise<number>;
  /** Undefined or nothing when no report came in time. */
  read(timeoutMs: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** Commands in packets of USB reports. */
export class HidTransport implements LedgerTransport {
  readonly #handle: HidHandle;

  constructor(handle: HidHandle) {
    this.#handle = handle;
  }

  async exchange(apdu: Uint8Array, { timeoutMs }: ExchangeOptions = {}): Promise<Uint8Array> {
    const reader = new PacketReader();
    await this.#orLost(async () => {
      for (const packet of framePackets(apdu)) await this.#handle.write([REPORT_ID, ...packet]);
    });
    for (let waited = 0; ; ) {
      const packet = await this.#orLost(() => this.#handle.read(POLL_MS));
      const answer = packet === undefined || packet.length === 0 ? undefined : reader.push(packet);
      if (answer !== undefined) return answer;
      if (packet === undefined || packet.length === 0) waited += POLL_MS;
      if (timeoutMs !== undefined && waited >= timeoutMs) throw ledgerErrors.silent();
    }
  }

  async close(): Promise<void> {
    // A device that is gone cannot be closed, and need not be.
    await this.#handle.close().catch(() => undefined);
  }

  async #orLost<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (cause) {
      throw ledgerErrors.disconnected(undefined, { cause });
    }
  }
}

/** The packets of a command. */
export function framePackets(apdu: Uint8Array): Uint8Array[] {
  assert(apdu.length <= MAX_LENGTH, "the length of a command is written in two bytes");
  const body = concatBytes(Uint8Array.from(uint16(apdu.length)), apdu);
  const room = PACKET_SIZE - HEADER_SIZE;
  return Array.from({ length: Math.ceil(body.length / room) }, (_, sequence) => {
    const packet = new Uint8Array(PACKET_SIZE);
    packet.set([...uint16(CHANNEL), TAG, ...uint16(sequence)]);
    packet.set(body.subarray(sequence * room, (sequence + 1) * room), HEADER_SIZE);
    return packet;
  });
}

/** Two bytes, the higher first. */
function uint16(value: number): readonly [number, number] {
  return [value >> 8, value & 0xff];
}

/** Joins the packets of one answer. */
export class PacketReader {
  readonly #parts: Uint8Array[] = [];
  #sequence = 0;
  #received = 0;

  /** Takes the next packet; the answer when it was the last. Throws on a packet that does not follow. */
  push(packet: Uint8Array): Uint8Array | undefined {
    this.#parts.push(this.#content(packet));
    this.#received += this.#parts.at(-1)?.length ?? 0;
    this.#sequence += 1;
    const all = concatBytes(...(this.#received >= LENGTH_SIZE ? this.#parts : []));
    const length = (all[0] ?? 0) * 256 + (all[1] ?? 0);
    if (length > MAX_ANSWER) throw ledgerErrors.badAnswer(`${length} bytes`);
    return all.length - LENGTH_SIZE >= length ? all.subarray(LENGTH_SIZE, LENGTH_SIZE + length) : undefined;
  }

  #content(packet: Uint8Array): Uint8Array {
    if (packet.length <= HEADER_SIZE) throw ledgerErrors.badAnswer(`a packet of ${packet.length} bytes`);
    const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
    if (view.getUint16(0) !== CHANNEL || view.getUint8(2) !== TAG)
      throw ledgerErrors.badAnswer("a packet of another program");
    const sequence = view.getUint16(3);
    if (sequence !== this.#sequence) throw ledgerErrors.badAnswer(`packet ${sequence} instead of ${this.#sequence}`);
    return packet.subarray(HEADER_SIZE);
  }
}
