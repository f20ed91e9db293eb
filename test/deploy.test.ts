import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { PROVIDER_RUN_FLAGS } from "../src/cli/provider/run/spec.ts";
import { runCli } from "./cli/run.ts";
import { ROOT } from "./support/index.ts";

/** The files for operators agree with the code and the guide. */

const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), "utf8");

test("the manifests are those that the command prints", async () => {
  const { code, out } = await runCli(["provider", "cluster", "install", "--dry-run"]);
  expect(code).toBe(0);
  await expect(out).toMatchFileSnapshot(join(ROOT, "deploy", "kubernetes", "install.yaml"));
});

test("the unit is that of the guide, and reads the passphrase as a credential", () => {
  const unit = read("deploy", "systemd", "svc-provider.service");
  expect(read("docs", "guides", "provider.md")).toContain(unit);
  expect(unit).toContain("LoadCredential=passphrase:");
});

test("the chart has the version of the package, and its settings are flags of the provider", () => {
  const chart = parse(read("deploy", "helm", "svc-provider", "Chart.yaml"));
  const { version } = JSON.parse(read("package.json"));
  expect([chart.version, chart.appVersion]).toEqual([version, version]);
  const { settings } = parse(read("deploy", "helm", "svc-provider", "values.yaml"));
  const flags = PROVIDER_RUN_FLAGS.map(({ name }) => name);
  expect(Object.keys(settings).filter((name) => !flags.includes(name))).toEqual([]);
});
