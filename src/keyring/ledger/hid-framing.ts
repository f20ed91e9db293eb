import { assert, concatBytes } from "../../util/index.ts";
import { ledgerErrors } from "./errors.ts";
import { MAX_ANSWER } from "./transport.ts";

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

/** The packets of a command. */
export function framePackets(apdu: Uint8Array): Uint8Array[] {
  assert(apdu.length <= MAX_LENGTH, "the length of a command is written in two bytes");
  const body = concatBytes(Uint8Array.from([apdu.length >> 8, apdu.length & 0xff]), apdu);
  const room = PACKET_SIZE - HEADER_SIZE;
  return Array.from({ length: Math.ceil(body.length / room) }, (_, sequence) => {
    const packet = Buffer.alloc(PACKET_SIZE);
    packet.writeUInt16BE(CHANNEL, 0);
    packet.writeUInt8(TAG, 2);
    packet.writeUInt16BE(sequence, 3);
    packet.set(body.subarray(sequence * room, (sequence + 1) * room), HEADER_SIZE);
    return packet;
  });
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
    const view = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength);
    if (packet.length <= HEADER_SIZE) throw ledgerErrors.badAnswer(`a packet of ${packet.length} bytes`);
    if (view.readUInt16BE(0) !== CHANNEL || view[2] !== TAG)
      throw ledgerErrors.badAnswer("a packet of another program");
    const sequence = view.readUInt16BE(3);
    if (sequence !== this.#sequence) throw ledgerErrors.badAnswer(`packet ${sequence} instead of ${this.#sequence}`);
    return packet.subarray(HEADER_SIZE);
  }
}
