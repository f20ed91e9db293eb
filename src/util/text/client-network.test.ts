import { expect, it } from "vitest";
import { clientNetwork } from "./client-network.ts";

it.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:0:1::7", "2001:db8:0:1::/64"],
  ["2001:DB8:0:1:ffff::1", "2001:db8:0:1::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::203.0.113.7", "64:ff9b:0:0::/64"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["", ""],
])("counts clients of %j as those of %j", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
