import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../util/index.ts";
import { prefixEnd } from "./kv.ts";

describe("the end of a prefix", () => {
  it.each([
    ["01", "02"],
    ["01ff", "02"],
    ["0102ff", "0103"],
    ["00", "01"],
  ])("%s is %s, and the prefix stays as it is", (prefix, end) => {
    // Keys of a database are views of memory that others read.
    for (const given of [fromHex(prefix), Buffer.from(prefix, "hex")]) {
      const found = prefixEnd(given);
      expect(found === undefined ? undefined : toHex(found)).toBe(end);
      expect(toHex(given)).toBe(prefix);
    }
  });

  it.each(["", "ff", "ffff"])("there is none of '%s'", (prefix) => {
    expect(prefixEnd(fromHex(prefix))).toBeUndefined();
  });
});
