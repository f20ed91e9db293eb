import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, ROOT } from "../support/index.ts";
import { environment } from "../support/run-svc.ts";
import { atNight, IS_NIGHT } from "../support/runs.ts";

const run = promisify(execFile);
const { version, dependencies }: { version: string; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);

describe("a release", () => {
  const fixture = new Fixture();
  const [first, second] = [join(fixture.folder, "first"), join(fixture.folder, "second")];
  const tarball = join(first, `svc-${version}.tgz`);
  beforeAll(async () => {
    for (const folder of IS_NIGHT ? [first, second] : [first])
      await run(process.execPath, [join(ROOT, "tools", "release.mjs"), folder]);
  });
  afterAll(() => fixture.close());

  it("holds the package, the version, the bill of materials and the sums of these", () => {
    const bill = `svc-${version}.cdx.json`;
    expect(readdirSync(first).sort()).toEqual(["SHA256SUMS", bill, `svc-${version}.tgz`, "version.txt"]);
    expect(readFileSync(join(first, "version.txt"), "utf8")).toBe(`v${version}\n`);
    const sums = readFileSync(join(first, "SHA256SUMS"), "utf8").trim().split("\n");
    const made = sums.map((line) => line.split("  ")[1] ?? "");
    expect(made.sort()).toEqual([bill, `svc-${version}.tgz`, "version.txt"]);
    for (const line of sums) {
      const [sum, name = ""] = line.split("  ");
      const content = readFileSync(join(first, name));
      expect(createHash("sha256").update(content).digest("hex"), name).toBe(sum);
    }
  });

  it("lists every package that it needs, and none for building", () => {
    const { components, metadata } = JSON.parse(readFileSync(join(first, `svc-${version}.cdx.json`), "utf8"));
    const listed: string[] = components.map(
      (each: { name: string; version: string }) => `${each.name}@${each.version}`,
    );
    for (const [name, exact] of Object.entries(dependencies)) expect(listed).toContain(`${name}@${exact}`);
    expect(listed.filter((name) => /^(vitest|typescript|esbuild|@biomejs)/.test(name))).toEqual([]);
    expect(metadata.component).toMatchObject({ name: "svc", version });
  });

  atNight(() =>
    it("is the same, byte for byte, when it is made again", () => {
      expect(readFileSync(join(second, "SHA256SUMS"), "utf8")).toBe(readFileSync(join(first, "SHA256SUMS"), "utf8"));
    }),
  );

  it("is installed into a user's PATH by one command, and uninstalled", async (context) => {
    const prefix = fixture.tempHome("prefix");
    const npm = (...args: string[]) => run("npm", [...args, "--global", "--prefix", prefix], { env: environment({}) });
    const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    try {
      await npm("install", tarball, ...flags);
    } catch (error) {
      const isOffline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(String(error));
      if (!isOffline || process.env.CI === "true") throw error;
      context.skip(`npm cannot reach its registry: ${error}`);
    }
    const svc = join(prefix, "bin", "svc");
    expect((await run(svc, ["version"])).stdout).toBe(`v${version}\n`);
    expect((await run(svc, ["keys", "mnemonic"])).stdout.split(" ")).toHaveLength(24);
    await npm("uninstall", "svc");
    expect(existsSync(svc)).toBe(false);
  });
});
