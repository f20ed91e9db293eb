import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../../src/provider/cluster/docker/host/command.ts";
import { processesOn } from "../support/abandoned.ts";
import { describeWithEngine } from "../support/containers.ts";
import { removeDeadPorts } from "../support/dead-ports.ts";
import { waitFor } from "../support/index.ts";
import { freePort } from "../support/ports.ts";
import { sweep } from "../support/sweep.ts";
import { TestEngine } from "./engine.ts";

/** No machine has the range for tests of networks. */
const DEAD = "198.18.255.9";

/** Answer of the server that listens there now. */
async function answerOn(port: number): Promise<string> {
  const server = createServer((_request, response) => response.end("mine")).listen(port, "127.0.0.1");
  const settings = { signal: AbortSignal.timeout(10_000) };
  const answer = await fetch(`http://127.0.0.1:${port}/`, settings).finally(() => server.close());
  return answer.text();
}

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
    // Another run that begins now may be the one that removes it.
    await waitFor(() => !existsSync(engine.folder), "its folder to be gone");
    // A killed process is still in the table of processes for a moment.
    await waitFor(async () => processesOn(engine.folder).length === 0, "its processes to be gone");
    expect(await answerOn(port)).toBe("mine");
  });

  it.each([
    ["before", true],
    ["while", false],
  ])("takes no port of a container that began %s others tidied up", async (_, isThere) => {
    const id = "a".repeat(64);
    const rules = [
      `-A NETAVARK-DN-0123456789ABC -d 127.0.0.1/32 -p tcp -m tcp --dport 1 -j DNAT --to-destination 127.0.0.9:80`,
      `-A NETAVARK-HOSTPORT-DNAT -p tcp -m tcp --dport 1 -m comment --comment "dnat name: svc-00000000-aaaaaaaaaaaa id: ${id}" -j NETAVARK-DN-0123456789ABC`,
    ].join("\n");
    let seen = isThere ? rules : "";
    const changes: string[] = [];
    await removeDeadPorts(async (tool, _args, input = "") => {
      if (tool !== "iptables") changes.push(input);
      const now = seen;
      seen = rules;
      return now;
    });
    expect(changes).toEqual([]);
  });

  it("that leads to a network which no longer exists takes nobody's connections", async () => {
    const port = await freePort();
    const [chain, match] = ["NETAVARK-DN-0123456789ABC", `-p tcp -m tcp --dport ${port}`];
    const lines = [
      "*nat",
      `:${chain} - [0:0]`,
      `-A ${chain} -d 127.0.0.1/32 ${match} -j DNAT --to-destination ${DEAD}:80`,
      `-A NETAVARK-HOSTPORT-DNAT ${match} -m comment --comment "dnat name: svc-00000000-aaaaaaaaaaaa id: 99" -j ${chain}`,
    ];
    await run("iptables-restore", ["-w", "10", "--noflush"], [...lines, "COMMIT", ""].join("\n"));
    await sweep();
    await run("iptables", ["-w", "10", "-t", "nat", "-X", chain]);
    expect(await answerOn(port)).toBe("mine");
  });
});
