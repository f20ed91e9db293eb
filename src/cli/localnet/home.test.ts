import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultLocalnetHome, homeFlags, readState } from "./home.ts";
import { Steps } from "./steps.ts";

test.each([
  [defaultLocalnetHome(0), 0, ""],
  [defaultLocalnetHome(100), 100, " --port-offset 100"],
  ["/srv/a net", 100, " --home '/srv/a net'"],
])("the localnet in %s with offset %i is found with %j", (home, offset, flags) => {
  expect(homeFlags(home, offset)).toBe(flags);
});

test("where there is none, the remedy starts one in the same place", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-localnet-"));
  const hint = `start one with: svc localnet --home ${dir}, or name the home of a running one with --home`;
  expect(() => readState(dir, 0)).toThrow(expect.objectContaining({ hint }));
  rmSync(dir, { recursive: true });
});

test("the summary's faucet command reaches this localnet", () => {
  const lines: string[] = [];
  const steps = new Steps({ json: false, out: (line) => lines.push(line), err: () => {} });
  steps.summary({ rpc: "r", net_url: "n", home: "/srv/net", homeFlags: " --home /srv/net", deployments: [] });
  expect(lines.join("\n")).toContain("svc faucet <address> 100000000utoken --home /srv/net ");
});
