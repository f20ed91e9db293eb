import { describe, expect, it } from "vitest";
import { execFileSync, spawnSync } from "./support/bounded.ts";

describe("programs that tests wait for", () => {
  it("may have no arguments, or arguments alone", () => {
    expect(execFileSync("true", { encoding: "utf8" })).toBe("");
    expect(execFileSync("echo", ["text"]).toString()).toBe("text\n");
    expect(spawnSync("false", { encoding: "utf8" }).status).toBe(1);
    expect(spawnSync("false", ["text"]).status).toBe(1);
  });

  it("are killed after the time that the options give", () => {
    expect(() => execFileSync("sleep", ["60"], { timeout: 100 })).toThrow(/ETIMEDOUT/);
    expect(spawnSync("sleep", ["60"], { timeout: 100 }).signal).toBe("SIGKILL");
  });
});
