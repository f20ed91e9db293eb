import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pause } from "../support/index.ts";
import { freePorts } from "../support/ports.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText, type Door, openSocket } from "./lib/sockets.ts";

const BODY_BYTES = 990_000;
/** Memory that a node may take for all requests in parts together, and keep: the C library gives some of it back late. */
const LIMITS = { peakMiB: 512, memoryShare: 3 };
let node: AttackedNode;
let rest: Door;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  rest = { host: "127.0.0.1", port };
  node = await AttackedNode.start({ flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`] });
});
afterAll(() => node?.close());

/** All but the last byte of a body of nearly the greatest length. */
function longBody(path: string): string {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`;
  return `${head}Content-Length: ${BODY_BYTES}\r\n\r\n${" ".repeat(BODY_BYTES - 1)}`;
}

async function hold(count: number, open: () => Socket): Promise<void> {
  const sockets = Array.from({ length: count }, open);
  await pause(6_000);
  for (const socket of sockets) socket.destroy();
}

describe("bodies of nearly the greatest length that do not end", () => {
  it("take no more memory of JSON-RPC than all clients may, and keep nobody out", async () => {
    const text = longBody("/");
    await besiege(node, () => hold(800, () => openSocket(node.door, text)), LIMITS);
  });

  it("take no more memory of REST than all clients may, and keep nobody out", async () => {
    const text = longBody("/cosmos/tx/v1beta1/simulate");
    const askMore = async () => {
      const { status } = await ask(rest, "/cosmos/bank/v1beta1/params");
      expect(status).toBe(200);
    };
    await besiege(node, () => hold(800, () => openSocket(rest, text)), { ...LIMITS, askMore });
  });

  it("do not keep out a body of the greatest length that ends", async () => {
    const sockets = Array.from({ length: 300 }, () => openSocket(node.door, longBody("/")));
    await pause(1_000);
    const { status, text } = await ask(
      node.door,
      "/",
      `${callText("abci_query", { path: "/app/version" })}${" ".repeat(900_000)}`,
    );
    for (const socket of sockets) socket.destroy();
    expect([status, text]).toEqual([200, expect.stringContaining('"result"')]);
  });
});
