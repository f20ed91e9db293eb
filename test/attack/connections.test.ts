import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pause } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText, getText, openSocket } from "./lib/sockets.ts";

/** More than a node takes at a time. */
const CONNECTIONS = 1_000;

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
});
afterAll(() => node?.close());

/** Opens connections that each begin with a text, continues with the next text every so often, and then abandons them. */
async function hold(count: number, begin: string, goOn: string): Promise<void> {
  const sockets = Array.from({ length: count }, () => openSocket(node.door, begin));
  for (let i = 0; i < 6; i++) {
    await pause(500);
    if (goOn !== "") for (const socket of sockets) socket.write(goOn);
  }
  for (const socket of sockets) socket.destroy();
}

describe("connections that are held open", () => {
  it.each([
    ["say nothing", "", ""],
    ["send a header byte by byte", "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ", "a"],
    ["send a body byte by byte", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n[", " "],
    ["were answered once", getText("/health"), ""],
    [
      "end in the midst of a chunk",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n[",
      "",
    ],
  ])("and %s keep nobody out", async (_, begin, goOn) => {
    await besiege(node, () => hold(CONNECTIONS, begin, goOn));
  });

  it("and are opened and left hundreds of times keep nobody out", async () => {
    await besiege(node, async () => {
      for (let i = 0; i < 5; i++) {
        const sockets = Array.from({ length: 200 }, () => openSocket(node.door, getText("/status")));
        await pause(100);
        for (const socket of sockets) socket.resetAndDestroy();
      }
    });
  });
});

describe("what is not a request", () => {
  it.each([
    ["no HTTP at all", "\u0000\u0001\u0002\r\n\r\n"],
    ["a TLS greeting", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a length below nothing", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
    ["a length beyond all numbers", `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${"9".repeat(40)}\r\n\r\n`],
    ["headers without an end", `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(5_000)}`],
    ["a path of 100 kB", getText(`/${"a".repeat(100_000)}`)],
    ["a version to come", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["a proxy's request", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n"],
    ["an unknown upgrade", "GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"],
    [
      "an upgrade that is broken",
      "GET /websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
  ])("end their connection and nothing else: %s", async (_, text) => {
    const socket = openSocket(node.door, Buffer.from(text, "latin1"));
    const closed = new Promise<void>((resolve) => socket.resume().once("close", () => resolve()));
    await Promise.race([closed, pause(2_000)]);
    socket.destroy();
    expect((await ask(node.door, "/", callText("health"))).status).toBe(200);
    expect(node.node.process.running).toBe(true);
  });
});
