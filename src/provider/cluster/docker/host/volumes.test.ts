import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Volumes } from "./volumes.ts";

test("whether volumes can be made is tried again after it failed, as on a full disk", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "volumes");
  writeFileSync(root, "");
  const volumes = new Volumes(root, "loop");
  expect(await volumes.unavailable()).toMatch(/need loop devices .*ENOTDIR/);
  rmSync(root);
  // Without the rights for a mount there is another reason now.
  expect((await volumes.unavailable()) ?? "").not.toContain("ENOTDIR");
});
