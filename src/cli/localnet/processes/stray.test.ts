import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endStrayService, recordService } from "./stray.ts";

let dir = "";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "svc-localnet-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("an engine service that a killed localnet left", () => {
  test("is ended", async () => {
    const socket = join(dir, "podman.sock");
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", socket], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
    recordService(dir, child.pid ?? 0);
    await endStrayService(dir, socket);
    expect(await ended).toBe("SIGTERM");
  });

  test("is not taken for another process with its number", async () => {
    recordService(dir, process.pid);
    await endStrayService(dir, join(dir, "podman.sock"));
    writeFileSync(join(dir, "podman.pid"), "-1\n");
    await endStrayService(dir, join(dir, "podman.sock"));
  });

  test("need not exist", async () => {
    await endStrayService(join(dir, "none"), join(dir, "podman.sock"));
  });
});
