import { describe, expect, it } from "vitest";
import { isPublicAddress } from "./addresses.ts";

const NONE = {};

describe("addresses that the provider may connect to in a tenant's name", () => {
  it.each(["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "223.255.255.255"])(
    "%s is public",
    (address) => expect(isPublicAddress(address, NONE)).toBe(true),
  );

  it.each(["2606:4700::1111", "2a00:1450:4001::1", "2620:0:2d0:200::7"])("%s is public", (address) =>
    expect(isPublicAddress(address, NONE)).toBe(true),
  );

  it.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "168.63.129.16",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
  ])("%s is not", (address) => expect(isPublicAddress(address, NONE)).toBe(false));

  it.each([
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::7f00:1",
    "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
  ])("%s is not", (address) => expect(isPublicAddress(address, NONE)).toBe(false));

  it.each(["", "localhost", "127.1", "2130706433", "0x7f000001", "017700000001", "8.8.8", "8.8.8.8 ", "[::1]"])(
    "%j is no plain address",
    (address) => expect(isPublicAddress(address, NONE)).toBe(false),
  );

  it("neither is this machine, nor what is on its links", () => {
    const common = { netmask: "", mac: "", internal: false } as const;
    const interfaces = {
      eth0: [
        { ...common, family: "IPv4" as const, address: "5.9.10.20", cidr: "5.9.10.20/28" },
        { ...common, family: "IPv6" as const, address: "2a01:4f8:1::2", cidr: "2a01:4f8:1::2/64", scopeid: 0 },
      ],
      wg0: [{ ...common, family: "IPv4" as const, address: "45.45.45.45", cidr: null }],
    };
    for (const address of ["5.9.10.20", "5.9.10.16", "5.9.10.31", "2a01:4f8:1::2", "2a01:4f8:1::ffff", "45.45.45.45"]) {
      expect(isPublicAddress(address, interfaces), address).toBe(false);
      expect(isPublicAddress(address, NONE), address).toBe(true);
    }
    for (const address of ["5.9.10.15", "5.9.10.32", "2a01:4f8:1:1::2", "45.45.45.46"]) {
      expect(isPublicAddress(address, interfaces), address).toBe(true);
    }
  });
});
