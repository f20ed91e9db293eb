import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { supervise } from "./processes.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-processes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An engine that starts itself once more, as a rootless Podman does; the copy holds the pipes and hears no signal. */
const ENGINE = `
  const { spawn } = require("node:child_process");
  if (process.env.COPY) {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    console.log("copy " + process.pid);
    process.send("here");
    process.disconnect();
  } else {
    const stdio = ["inherit", "inherit", "inherit", "ipc"];
    const copy = spawn(process.execPath, ["-e", process.env.ENGINE], { env: { ...process.env, COPY: "1" }, stdio });
    if (process.env.ENDS) copy.once("message", () => { console.log("last words"); process.exit(3); });
  }
`;

function engine(env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ["-e", ENGINE], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, ENGINE, ...env },
  });
  return supervise("engine", child, join(folder, "log"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // The parent of a killed copy is gone; the process that adopted the copy may notice its end late.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function copyOf(child: ReturnType<typeof engine>): Promise<number> {
  const line = await child.waitFor(/^copy \d+/);
  return Number(line.split(" ")[1]);
}

test("the hint of a process that finds its port taken names the flag of the localnet", async () => {
  const text = "stop it, or choose another port with --rpc.laddr";
  const script = `console.error("Error: cannot listen\\nHint: ${text}"); process.exit(1);`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  await expect(supervise("node", child, join(folder, "log")).waitFor(/never/)).rejects.toMatchObject({
    message: "the node ended (exit code 1): cannot listen",
    hint: "stop it, or use other ports: --port-offset 100",
  });
});

test("a process whose copy keeps the pipes open is stopped, the copy with it", async () => {
  const child = engine();
  const copy = await copyOf(child);
  await child.stop();
  expect(child.exited).toBe("SIGTERM");
  await expect.poll(() => isAlive(copy)).toBe(false);
});

test("a process that ends by itself is known to have ended, with its last words, while its copy lives on", async () => {
  const child = engine({ ENDS: "1" });
  const words = child.waitFor(/last words/);
  const copy = await copyOf(child);
  expect(await child.ended).toBe("exit code 3");
  expect(await words).toBe("last words");
  expect(readFileSync(join(folder, "log"), "utf8")).toContain("last words");
  await expect.poll(() => isAlive(copy)).toBe(false);
  await child.stop();
});
