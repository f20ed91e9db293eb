import { expect, test } from "vitest";
import { addressPool, MAX_POOL, normalAddress } from "./pool.ts";

test.each([
  ["203.0.113.0/30", ["203.0.113.0", "203.0.113.1", "203.0.113.2", "203.0.113.3"]],
  ["203.0.113.254-203.0.114.1", ["203.0.113.254", "203.0.113.255", "203.0.114.0", "203.0.114.1"]],
  ["203.0.113.7", ["203.0.113.7"]],
  ["255.255.255.255/32", ["255.255.255.255"]],
  ["2001:db8::/127", ["2001:db8::", "2001:db8::1"]],
  ["2001:DB8:0:0:0:0:0:ffff-2001:db8::1:0", ["2001:db8::ffff", "2001:db8::1:0"]],
  ["::ffff:203.0.113.9", ["::ffff:cb00:7109"]],
])("the range %s", (word, addresses) => {
  expect(addressPool([word])).toEqual(addresses);
});

test("ranges that overlap have each address once", () => {
  expect(addressPool(["203.0.113.1-203.0.113.3", "203.0.113.2/31", "203.0.113.1"])).toEqual([
    "203.0.113.1",
    "203.0.113.2",
    "203.0.113.3",
  ]);
  expect(addressPool([])).toEqual([]);
});

test.each([
  "203.0.113.1/28",
  "203.0.113.0/33",
  "203.0.113.0/",
  "203.0.113.9-203.0.113.1",
  "203.0.113.1-2001:db8::1",
  "203.0.113.1-203.0.113.2-203.0.113.3",
  "203.0.113",
  "203.0.113.256",
  "0203.0.113.1",
  "fe80::1%eth0",
  "example.com",
  "-",
  "10.0.0.0/15",
  "2001:db8::/64",
  "::/0",
])("%s is refused", (word) => {
  expect(addressPool([word])).toBeUndefined();
});

test("a pool has a largest size, all ranges together", () => {
  expect(addressPool(["10.0.0.0/16"])).toHaveLength(MAX_POOL);
  expect(addressPool(["10.0.0.0/16", "10.1.0.0"])).toBeUndefined();
});

test("an address has one form", () => {
  expect(normalAddress("2001:DB8:0::0001")).toBe("2001:db8::1");
  expect(normalAddress("203.0.113.1")).toBe("203.0.113.1");
  expect(normalAddress("game.example.com")).toBeUndefined();
});
