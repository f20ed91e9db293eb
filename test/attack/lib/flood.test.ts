import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { waitFor } from "../../support/index.ts";
import { Flooder } from "./flood.ts";

/** Starts the program that it is told, as a test does, and says which process that is. */
const PARENT = `
  const { spawn } = require("node:child_process");
  const child = spawn(process.execPath, process.argv.slice(1), { stdio: ["pipe", "ignore", "ignore"] });
  console.log(child.pid);
`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it("ends with the test that began it, even if that is killed", async () => {
  const flooder = await Flooder.make();
  const parent = spawn(process.execPath, ["-e", PARENT, flooder.program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  parent.kill("SIGKILL");
  try {
    await waitFor(() => !isAlive(pid), "the flood to end");
  } finally {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await flooder.close();
  }
});
