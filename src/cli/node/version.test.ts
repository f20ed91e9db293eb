import { describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";

describe("version", () => {
  test("is one line, whatever the output format", async () => {
    for (const flags of [[], ["-o", "json"]]) {
      expect(await runCli(["version", ...flags])).toEqual({ code: 0, out: "v0.0.0\n", err: "" });
    }
  });

  test("--long also names what runs it", async () => {
    const told = { name: "svc", server_name: "svc", version: "v0.0.0", commit: "", node: process.version };
    expect(JSON.parse((await runCli(["version", "--long", "-o", "json"])).out)).toEqual(told);
    const { out } = await runCli(["--long", "version"]);
    expect(out).toContain("name: svc\n");
    expect(out).toContain(`node: ${process.version}\n`);
  });
});
