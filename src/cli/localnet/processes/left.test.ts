import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endLeftProcesses, leftProcesses, recordProcess, serviceSocket } from "./left.ts";

let dir = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "svc-localnet-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

/** A process that waits, with the words in its command line. */
function waiting(...words: string[]) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", ...words], { stdio: "ignore" });
  children.push(child);
  const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  return { pid: child.pid ?? 0, ended };
}

describe("processes that a killed localnet left", () => {
  test("are ended, the last one first", async () => {
    const [first, second] = [waiting(), waiting()];
    recordProcess(dir, { name: "node", pid: first.pid });
    recordProcess(dir, { name: "provider", pid: second.pid });
    expect(leftProcesses(dir)).toEqual([
      { name: "node", pid: first.pid },
      { name: "provider", pid: second.pid },
    ]);
    const order: string[] = [];
    void first.ended.then(() => order.push("node"));
    void second.ended.then(() => order.push("provider"));
    await endLeftProcesses(dir);
    expect(await Promise.all([first.ended, second.ended])).toEqual(["SIGTERM", "SIGTERM"]);
    expect(order).toEqual(["provider", "node"]);
    expect(leftProcesses(dir)).toEqual([]);
  });

  test("are not taken for other processes with their numbers, of this boot or an earlier one", async () => {
    appendFileSync(join(dir, "processes"), `${process.pid} 00000000-0000-0000-0000-000000000000/1 node\n`);
    recordProcess(dir, { name: "node", pid: process.pid });
    const text = `${process.pid} another-boot/1 node\n-1 x/1 node\nnothing\n`;
    writeFileSync(join(dir, "processes"), text);
    expect(leftProcesses(dir)).toEqual([]);
    await endLeftProcesses(dir);
  });

  test("include an engine service that was started but not recorded, and no other program on its socket", async () => {
    const address = `unix://${serviceSocket(dir)}`;
    const client = waiting("--url", address, "ps");
    const service = waiting("system", "service", "--time=0", address);
    expect(leftProcesses(dir)).toEqual([{ name: "container engine", pid: service.pid }]);
    await endLeftProcesses(dir);
    expect(await service.ended).toBe("SIGTERM");
    expect(() => process.kill(client.pid, 0)).not.toThrow();
  });

  test("need not exist", async () => {
    await endLeftProcesses(join(dir, "none"));
  });
});
