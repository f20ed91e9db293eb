import { describe, expect, test } from "vitest";
import { checkHost } from "./names.ts";

describe("host names", () => {
  test.each(["xn--mller-kva.example", "0x7f.example", `${"a".repeat(63)}.example`])("%s is one", (host) => {
    expect(checkHost(host)).toEqual({ value: host });
  });

  test.each([
    ["müller.example", "write xn--mller-kva.example"],
    ["Bücher.Example.", "write xn--bcher-kva.example"],
    ["ａ.example", "write a.example"],
    ["１.２.３.４", "write letters, digits, dashes and dots, for example shop.example.com"],
    [`${"ü".repeat(300)}.example`, "write letters, digits, dashes and dots, for example shop.example.com"],
    ["127.1", "write a name, not an address"],
    ["0x7f.1", "write a name, not an address"],
    ["shop.0x7f", "write a name, not an address"],
    ["shop.123", "write a name, not an address"],
  ])("%s is none: %s", (host, remedy) => {
    expect(checkHost(host)).toMatchObject({ problem: expect.stringContaining("is not a host name"), remedy });
  });
});
