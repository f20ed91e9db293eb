import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freePort } from "../../src/testing/ports.ts";
import { processesOn } from "../support/abandoned.ts";
import { describeWithEngine } from "../support/containers.ts";
import { waitFor } from "../support/index.ts";
import { sweep } from "../support/sweep.ts";
import { TestEngine } from "./engine.ts";

describeWithEngine("what a killed test run left", () => {
  it.each([
    ["with its engine", true],
    ["without its engine", false],
  ])("%s is removed by the next, and its published port is free for others", async (_, isEngineKilled) => {
    const engine = await TestEngine.start();
    const port = await freePort();
    await engine.podman("run", "--detach", "--publish", `127.0.0.1:${port}:80`, engine.image, "sleep", "1000");
    if (isEngineKilled) await engine.killEverything();
    writeFileSync(join(engine.folder, "owner.pid"), "2147483647");
    await sweep();
    expect(existsSync(engine.folder)).toBe(false);
    // A killed process is still in the table of processes for a moment.
    await waitFor(async () => processesOn(engine.folder).length === 0, "its processes to be gone");
    const server = createServer((_request, response) => response.end("mine")).listen(port, "127.0.0.1");
    const answer = await fetch(`http://127.0.0.1:${port}/`).finally(() => server.close());
    expect(await answer.text()).toBe("mine");
  });
});
