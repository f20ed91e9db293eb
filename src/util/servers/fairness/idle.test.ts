import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { closed } from "../../../../test/support/closed.ts";
import { closeIdle, Reading } from "./index.ts";
import { ENOUGH_TURNS, READING_SLICE_MS } from "./limits.ts";

const KEPT_MS = 50;
const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** Reads nothing of connections that were stopped while it is set. */
const others = { isAccepting: false };
const reading = new Reading(others);
const server = createServer((_request, response) => response.end("served"));
server.keepAliveTimeout = KEPT_MS;
server.on("connection", (socket) => reading.add(socket));
closeIdle(server, reading);

beforeEach(async () => {
  others.isAccepting = false;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function answered() {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {}).write(REQUEST);
  const [answer] = await once(client, "data");
  expect(String(answer)).toContain("served");
  return client;
}

function stopAll(): void {
  reading.worked();
  const end = performance.now() + READING_SLICE_MS;
  while (performance.now() < end);
  reading.worked();
}

it("closes no connection that waits for its turn with the next request", async () => {
  const client = await answered();
  others.isAccepting = true;
  stopAll();
  client.write(REQUEST);
  const next = once(client, "data");
  // Node.js adds a second to the time that it says.
  setTimeout(() => Object.assign(others, { isAccepting: false }), 4 * KEPT_MS + 1_000);
  const [answer] = await next;
  expect(String(answer)).toContain("served");
  client.destroy();
});

it("closes a connection on which nothing comes", async () => {
  await closed(await answered());
});

it("closes one on which nothing has come in its turns although it waits for the next, and no other", () => {
  const behind = new EventEmitter();
  let turns = 3;
  closeIdle(behind, { isWaiting: () => true, turnsOf: () => turns });
  const idle = { destroyed: false, bytesRead: 5, timeout: KEPT_MS, setTimeout: vi.fn(), destroy: vi.fn() };
  const busy = { ...idle, setTimeout: vi.fn(), destroy: vi.fn() };
  const seemIdle = () => [idle, busy].forEach((socket) => void behind.emit("timeout", socket));
  seemIdle();
  turns += ENOUGH_TURNS - 1;
  seemIdle();
  expect(idle.destroy).not.toHaveBeenCalled();
  busy.bytesRead += 1;
  turns += ENOUGH_TURNS;
  seemIdle();
  expect([idle.destroy.mock.calls.length, busy.destroy.mock.calls.length]).toEqual([1, 0]);
  expect(busy.setTimeout.mock.calls).toEqual([[KEPT_MS], [KEPT_MS], [KEPT_MS]]);
});
