import { expect, it } from "vitest";
import { readProxyHeader } from "./proxies.ts";

const SIGNATURE = Buffer.from("0d0a0d0a000d0a515549540a", "hex");
const v2 = (command: number, family: number, addresses: Buffer): Buffer =>
  Buffer.concat([SIGNATURE, Buffer.from([command, family, addresses.length >> 8, addresses.length & 0xff]), addresses]);
const IPV4 = Buffer.from([203, 0, 113, 7, 10, 0, 0, 1, 0x12, 0x34, 0x20, 0xfb]);
const IPV6 = Buffer.concat([Buffer.from("20010db8000000000000000000000007", "hex"), Buffer.alloc(20)]);

it.each([
  ["version 1", Buffer.from("PROXY TCP4 203.0.113.7 10.0.0.1 4660 8443\r\n"), "203.0.113.7"],
  ["version 1 over IPv6", Buffer.from("PROXY TCP6 2001:db8::7 ::1 4660 8443\r\n"), "2001:db8::7"],
  ["version 1 of nobody known", Buffer.from("PROXY UNKNOWN\r\n"), undefined],
  ["version 2", v2(0x21, 0x11, IPV4), "203.0.113.7"],
  ["version 2 over IPv6", v2(0x21, 0x21, IPV6), "2001:db8:0:0:0:0:0:7"],
  ["version 2 with an extension", v2(0x21, 0x11, Buffer.concat([IPV4, Buffer.alloc(20)])), "203.0.113.7"],
  ["version 2 of the proxy itself", v2(0x20, 0, Buffer.alloc(0)), undefined],
])("reads %s, whatever follows and however it is cut", (_, header, address) => {
  const bytes = header.length;
  expect(readProxyHeader(Buffer.concat([header, Buffer.from("\x16\x03\x01")]))).toEqual({ bytes, address });
  for (let length = 0; length < bytes; length++) expect(readProxyHeader(header.subarray(0, length))).toBe("more");
});

it.each([
  ["a greeting of TLS", Buffer.from("160301020001", "hex")],
  ["a request", Buffer.from("GET / HTTP/1.1\r\n")],
  ["a line without an end", Buffer.from(`PROXY TCP4 ${"1".repeat(200)}`)],
  ["another family", Buffer.from("PROXY UDP4 203.0.113.7 10.0.0.1 4660 8443\r\n")],
  ["a line without an address", Buffer.from("PROXY TCP4\r\n")],
  ["an address that is none", Buffer.from("PROXY TCP4 client 10.0.0.1 4660 8443\r\n")],
  ["an address of the other family", Buffer.from("PROXY TCP4 2001:db8::7 ::1 4660 8443\r\n")],
  ["another version", v2(0x31, 0x11, IPV4)],
  ["an extension without an end", Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, 0xff, 0xff])])],
])("finds no header in %s", (_, data) => {
  expect(readProxyHeader(data)).toBeUndefined();
});
