import { assert, concatBytes, errorText } from "../../util/index.ts";
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

/** The part of the library for USB devices that is used. */
export interface HidModule {
  devicesAsync(vendorId: number, productId: number): Promise<readonly HidDevice[]>;
  readonly HIDAsync: { open(path: string): Promise<HidHandle> };
}

export interface HidDevice {
  readonly path?: string | undefined;
  readonly interface: number;
  readonly usagePage?: number | undefined;
}

export interface HidHandle {
  write(values: number[]): Promise<number>;
  /** Undefined or nothing when no report came in time. */
  read(timeoutMs: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

const VENDOR = 0x2c97;
const ANY_PRODUCT = 0;
/** The page of the interface for applications; other interfaces of a device are a keyboard or a security key. */
const USAGE_PAGE = 0xffa0;
/** Reports have no number; the library wants a zero in its place. */
const REPORT_ID = 0;
/** A wait in another thread cannot be ended from outside, so each is short. */
const POLL_MS = 250;

/** Opens the one device that is connected. */
export async function openHid(load: () => Promise<HidModule> = loadNodeHid): Promise<LedgerTransport> {
  const { hid, devices } = await listDevices(load);
  const paths = [...new Set(devices.filter(isForApps).flatMap(({ path }) => (path === undefined ? [] : [path])))];
  const [path, ...others] = paths;
  if (path === undefined) throw ledgerErrors.notFound();
  if (others.length > 0) throw ledgerErrors.several(`${paths.length} devices`);
  try {
    return new HidTransport(await hid.HIDAsync.open(path));
  } catch (cause) {
    throw ledgerErrors.notOpened(errorText(cause), { cause });
  }
}

/** The native half of the library loads at its first use, and fails on systems without its requirements. */
async function listDevices(
  load: () => Promise<HidModule>,
): Promise<{ readonly hid: HidModule; readonly devices: readonly HidDevice[] }> {
  try {
    const hid = await load();
    return { hid, devices: await hid.devicesAsync(VENDOR, ANY_PRODUCT) };
  } catch (cause) {
    const [line = ""] = errorText(cause).split("\n");
    throw ledgerErrors.library(line, { cause });
  }
}

function loadNodeHid(): Promise<HidModule> {
  return import("node-hid");
}

/** Where the system does not report the usage page, the interface for applications is the first. */
function isForApps({ usagePage = 0, interface: number }: HidDevice): boolean {
  return usagePage === 0 ? number <= 0 : usagePage === USAGE_PAGE;
}

/** Commands in packets of USB reports. */
class HidTransport implements LedgerTransport {
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
