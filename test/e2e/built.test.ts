import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildOnce, MAIN } from "../support/build.ts";
import { Fixture, runSvc } from "../support/index.ts";

const PHRASE = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/** What only the built program can get wrong: it runs from V8's code, and loads packages when they are needed. */
describe("the built program", () => {
  const fixture = new Fixture();
  afterAll(() => fixture.close());

  it("loads the packages that stay outside of it", async () => {
    const home = fixture.tempHome("built");
    const test = { home, env: { SVC_KEYRING_BACKEND: "test" } };
    const added = await runSvc(["keys", "add", "me", "--recover", "-o", "json"], { ...test, input: `${PHRASE}\n` });
    const { address } = JSON.parse(added.stdout);
    const words = ["tx", "cert", "create", "client", "--from", address, "--generate-only", "--chain-id", "x-1"];
    const made = await runSvc(words, { ...test, input: "long enough\nlong enough\n" });
    expect(made, made.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("MsgCreateCertificate") });
    const engine = join(fixture.folder, "none.sock");
    const run = await runSvc([
      "localnet",
      "--cluster-engine",
      engine,
      "--port-offset",
      "3200",
      "--home",
      `${home}-net`,
    ]);
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("none.sock") });
    expect(run.stderr).not.toContain("import");
  });

  it("has no import of its own in its code: V8's kept code could not do it", async () => {
    await buildOnce();
    const [name = ""] = readFileSync(join(dirname(MAIN), ".built"), "utf8").split("\n");
    const code = readFileSync(join(dirname(MAIN), name), "latin1");
    expect(code.match(/(?<![\w$.])import\(.{0,40}/g) ?? []).toEqual([]);
    expect(code).toContain('__import("ws")');
  });
});
