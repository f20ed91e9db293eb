import type { HidDevice, HidModule } from "../../../src/keyring/ledger/open.ts";
import { concatBytes } from "../../../src/util/index.ts";
import type { EmulatedDevice } from "./device.ts";

const PACKET = 64;

/** The library for USB devices with the emulated device connected; interfaces and paths are the tests' own. */
export function usbWith(device: EmulatedDevice, listed: readonly HidDevice[] = [APP_INTERFACE]): HidModule {
  return {
    devicesAsync: async () => listed,
    HIDAsync: { open: async () => new UsbHandle(device) },
  };
}

export const APP_INTERFACE: HidDevice = { path: "1-1:1.0", interface: 0, usagePage: 0xffa0 };

/** The device's end of the cable: reads packets, answers in packets. */
class UsbHandle {
  readonly #device: EmulatedDevice;
  readonly #packets: Uint8Array[] = [];
  #command: Uint8Array = new Uint8Array();
  #failed = false;

  constructor(device: EmulatedDevice) {
    this.#device = device;
  }

  async write(values: number[]): Promise<number> {
    if (this.#failed) throw new Error("could not write to the device");
    if (values.length !== PACKET + 1 || values[0] !== 0) throw new Error("a report has its number and 64 bytes");
    const packet = Buffer.from(values.slice(1));
    if (packet.readUInt16BE(0) !== 0x0101 || packet[2] !== 0x05) throw new Error("another channel");
    if (packet.readUInt16BE(3) === 0) this.#command = new Uint8Array();
    this.#command = concatBytes(this.#command, packet.subarray(5));
    const length = Buffer.from(this.#command).readUInt16BE(0);
    if (this.#command.length >= length + 2) this.#run(this.#command.subarray(2, 2 + length));
    return values.length;
  }

  async read(): Promise<Uint8Array | undefined> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (this.#failed) throw new Error("could not read from the device");
    return this.#packets.shift();
  }

  async close(): Promise<void> {
    if (this.#failed) throw new Error("could not close the device");
  }

  #run(command: Uint8Array): void {
    this.#device.exchange(command).then(
      (answer) => this.#packets.push(...packetsOf(answer)),
      () => {
        this.#failed = true;
      },
    );
  }
}

function packetsOf(answer: Uint8Array): Uint8Array[] {
  const body = Uint8Array.from([answer.length >> 8, answer.length & 0xff, ...answer]);
  const packets: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += PACKET - 5) {
    const sequence = packets.length;
    const packet = new Uint8Array(PACKET);
    packet.set([0x01, 0x01, 0x05, sequence >> 8, sequence & 0xff, ...body.subarray(at, at + PACKET - 5)]);
    packets.push(packet);
  }
  return packets;
}
