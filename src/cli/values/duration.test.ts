import { describe, expect, it } from "vitest";
import { resolveFlags } from "../command/flags.ts";
import { durationFlag } from "./duration.ts";

const FLAG = { name: "bid-timeout", value: "<duration>", summary: "" };
const given = (text: string) => resolveFlags([FLAG], new Map([["bid-timeout", text]]), {});

describe("flags with durations", () => {
  it("are read", () => expect(durationFlag(given("1h30m"), "bid-timeout")).toBe(5_400_000));

  it.each(["", "5", "-5m", "0s", "0.4ms"])("refuse %j", (text) => {
    const said = `--bid-timeout takes a duration such as 30s, 5m or 1h30m, not "${text}"`;
    expect(() => durationFlag(given(text), "bid-timeout")).toThrow(said);
  });

  it("name the variable that holds a wrong one", () => {
    const flags = resolveFlags([FLAG], new Map(), { SVC_BID_TIMEOUT: "soon" });
    expect(() => durationFlag(flags, "bid-timeout")).toThrow("SVC_BID_TIMEOUT takes a duration");
  });
});
