import { createServer } from "node:http";
import { expect, it } from "vitest";
import { createLogger } from "../log.ts";
import { closeServer, listenAt } from "./listen.ts";
import { VersionWatch } from "./releases.ts";

it("a newer version that the network publishes is told in the log, each time it is asked for", async () => {
  let published = "v1.10.0";
  const server = createServer((_, response) => response.end(`${published}\n`));
  const { port } = await listenAt(server, { host: "127.0.0.1", port: 0, option: "port" });
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line), now: () => 0 });
  const net = `http://127.0.0.1:${port}`;
  const watch = new VersionWatch({ net, version: "v1.9.0", log });
  expect(watch.newer).toBe(false);
  await watch.ask();
  await watch.ask();
  expect(watch.newer).toBe(true);
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [1, 2].map(() => expect.objectContaining({ version: "v1.9.0", latest: "v1.10.0", net })),
  );
  published = "<html>";
  await watch.ask();
  expect(watch.newer).toBe(true);
  published = "v1.9.0";
  await watch.ask();
  expect(watch.newer).toBe(false);
  await closeServer(server);
  await watch.ask();
  expect(lines).toHaveLength(2);
});
