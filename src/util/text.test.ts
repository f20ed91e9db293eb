import { execFileSync } from "node:child_process";
import { isIP } from "node:net";
import { expect, test } from "vitest";
import { clientNetwork, ipVersion, shellWord, textTable } from "./text.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:0:1::7", "2001:db8:0:1::/64"],
  ["2001:DB8:0:1:ffff::1", "2001:db8:0:1::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::203.0.113.7", "64:ff9b:0:0::/64"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::FFFF:cb00:7107", "203.0.113.7"],
  ["0:0:0:0:0:ffff:cb00:7107", "203.0.113.7"],
  ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
  ["::ffff:0:0", "0.0.0.0"],
  ["::fffe:cb00:7107", "0:0:0:0::/64"],
  ["", ""],
])("counts clients of %j as those of %j", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});

test("a plain word stays as it is", () => {
  expect(shellWord("/srv/app-1.yaml")).toBe("/srv/app-1.yaml");
});

test.each(["", "a b", "it's", "$HOME", "a\nb", "~", "*"])("the shell reads %j as one word", (word) => {
  expect(execFileSync("sh", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" })).toBe(word);
});

test("columns are as wide as their widest cell", () => {
  expect(
    textTable([
      ["A", "LONG", "C"],
      ["abc", "", "d"],
    ]),
  ).toBe("A    LONG  C\nabc        d\n");
  expect(textTable([])).toBe("");
});

test.each([
  "0.0.0.0",
  "203.0.113.255",
  "1.2.3",
  "01.2.3.4",
  "256.1.1.1",
  "1.2.3.4.",
  "::",
  "2001:db8::1",
  "::ffff:1.2.3.4",
  "1::2::3",
  "::1]",
  "a",
  "",
])("the version of %j is what Node.js says", (text) => {
  expect(ipVersion(text)).toBe(isIP(text));
});
