import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { startPodman } from "./container-engine.ts";

const root = mkdtempSync(join(tmpdir(), "svc-podman-"));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test.each([
  [0, "start it by hand to see more: podman system service --time=0"],
  [1000, "run svc localnet as root: the networks and volumes of its containers need that"],
])("a Podman that does not start for user %d is told with its own words, and what helps", async (uid, hint) => {
  const bin = join(root, `bin-${uid}`);
  mkdirSync(bin);
  const words = 'Error: exec: "newuidmap": executable file not found';
  writeFileSync(join(bin, "podman"), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  vi.spyOn(process, "getuid").mockReturnValue(uid);
  await expect(startPodman(join(root, `run-${uid}`))).rejects.toMatchObject({
    message: `Podman did not start: ${words.replace("Error: ", "")}`,
    hint,
  });
});

test("a folder whose path is too long for a socket is told before Podman starts", async () => {
  const runDir = join(root, "x".repeat(100));
  await expect(startPodman(runDir)).rejects.toMatchObject({
    message: `the path of a socket is too long: ${join(runDir, "podman.sock")}`,
    hint: "use a --home with a shorter path",
  });
});
