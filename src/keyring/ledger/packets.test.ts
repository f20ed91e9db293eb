import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatBytes, fromHex, toHex } from "../../util/index.ts";
import { decodeAnswer, encodeApdu, encodeDevicePath, formatDevicePath } from "./apdu.ts";
import { framePackets, PACKET_SIZE, PacketReader } from "./packets.ts";

const path = { purpose: 44, coinType: 118, account: 2, change: false, index: 7 };

describe("commands", () => {
  test("have class, instruction, parameters, length and data", () => {
    expect(toHex(encodeApdu({ cla: 0x55, ins: 4, p1: 1, data: fromHex("0102") }))).toBe("55040100020102");
    expect(toHex(encodeApdu({ cla: 0x55, ins: 0 }))).toBe("5500000000");
  });

  test("hold at most 255 bytes", () => {
    expect(encodeApdu({ cla: 0, ins: 0, data: new Uint8Array(255) })).toHaveLength(260);
    expect(() => encodeApdu({ cla: 0, ins: 0, data: new Uint8Array(256) })).toThrow("at most 255");
  });

  test("a path is five numbers, the first three hardened", () => {
    expect(toHex(encodeDevicePath(path))).toBe("2c0000807600008002000080" + "0000000007000000");
    expect(formatDevicePath(path)).toBe("m/44'/118'/2'/0/7");
  });

  test("an answer is data and status", () => {
    const { data, status } = decodeAnswer(fromHex("01026986"));
    expect([toHex(data), status]).toEqual(["0102", 0x6986]);
    expect(() => decodeAnswer(fromHex("90"))).toThrow("gave an invalid answer");
  });
});

describe("packets", () => {
  test("of a short command", () => {
    const [packet, ...others] = framePackets(fromHex("5500000000"));
    expect(others).toEqual([]);
    expect(toHex(packet ?? new Uint8Array())).toBe(`0101050000${"0005"}5500000000`.padEnd(2 * PACKET_SIZE, "0"));
  });

  test("all have 64 bytes and follow one another, and come back as the whole", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => {
        const packets = framePackets(bytes);
        const reader = new PacketReader();
        const answers = packets.map((packet) => reader.push(packet));
        expect(packets.map((packet) => packet.length)).toEqual(packets.map(() => PACKET_SIZE));
        expect(answers.slice(0, -1)).toEqual(packets.slice(1).map(() => undefined));
        expect(toHex(answers.at(-1) ?? fromHex("ff"))).toBe(toHex(bytes));
      }),
    );
  });

  test("anything else is refused, and nothing is read beyond it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: PACKET_SIZE }), (packet) => {
        fc.pre(toHex(packet.subarray(0, 5)) !== "0101050000");
        expect(() => new PacketReader().push(packet)).toThrow("gave an invalid answer");
      }),
    );
  });

  test("a packet that was left out is noticed", () => {
    const [first = new Uint8Array(), , third = new Uint8Array()] = framePackets(new Uint8Array(150));
    const reader = new PacketReader();
    reader.push(first);
    expect(() => reader.push(third)).toThrow("packet 2 instead of 1");
  });

  test("a packet of another channel is noticed", () => {
    const other = concatBytes(fromHex("0202050000"), new Uint8Array(59));
    expect(() => new PacketReader().push(other)).toThrow("a packet of another program");
  });
});
