import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pause } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { callText, openSocket } from "./lib/sockets.ts";
import { frameHead, openWebsocket, sendMessage, upgradeText } from "./lib/websockets.ts";

/** Nearly as many as a node takes, and nearly the longest message. */
const CLIENTS = 850;
const MESSAGE_BYTES = 990_000;
/** Memory that a node may take for all requests in parts together, and keep: the C library gives some of it back late. */
const LIMITS = { peakMiB: 600, memoryShare: 5 };

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
});
afterAll(() => node?.close());

async function hold(clients: number, text: Buffer, parts = 1): Promise<void> {
  const sockets: Socket[] = Array.from({ length: clients }, () => openSocket(node.door, upgradeText()));
  for (const socket of sockets) socket.resume().setNoDelay();
  await pause(1_000);
  for (let i = 0; i < parts; i++) {
    for (const socket of sockets) socket.write(text);
    if (parts > 1) await pause(2);
  }
  await pause(6_000);
  for (const socket of sockets) socket.destroy();
}

describe("messages of websockets that do not end", () => {
  it("take no more memory than all clients may, and keep nobody out", async () => {
    const begun = Buffer.concat([frameHead({ bytes: MESSAGE_BYTES }), Buffer.alloc(MESSAGE_BYTES - 1, " ")]);
    await besiege(node, () => hold(CLIENTS, begun), LIMITS);
  });

  it("take no more memory in parts of one byte", async () => {
    const part = Buffer.concat([frameHead({ bytes: 1, isLast: false, isFirst: false }), Buffer.of(0x20)]);
    const first = Buffer.concat([frameHead({ bytes: 1, isLast: false }), Buffer.of(0x20)]);
    const begun = Buffer.concat([first, ...Array.from({ length: 16_000 }, () => part)]);
    await besiege(node, () => hold(CLIENTS, begun), LIMITS);
  });

  it("do not keep out a long message that ends", async () => {
    const begun = Buffer.concat([frameHead({ bytes: MESSAGE_BYTES }), Buffer.alloc(MESSAGE_BYTES - 1, " ")]);
    const attack = hold(300, begun);
    const socket = await openWebsocket(node.door);
    const answers: string[] = [];
    socket.on("message", (data) => answers.push(data.toString()));
    await pause(2_000);
    await sendMessage(socket, `${callText("health")}${" ".repeat(60_000)}`);
    await expect.poll(() => answers.length, { timeout: 30_000 }).toBe(1);
    expect(answers[0]).toContain('"result":{}');
    socket.terminate();
    await attack;
  });
});

describe("websockets that send what no client sends", () => {
  it.each([
    ["a compressed message that nobody agreed to", Buffer.concat([Buffer.of(0xc1, 0x85, 0, 0, 0, 0), randomBytes(5)])],
    ["a message without a mask", Buffer.from([0x81, 0x01, 0x20])],
    ["a length beyond all numbers", Buffer.concat([Buffer.of(0x81, 0xff), Buffer.alloc(8, 0xff), Buffer.alloc(4)])],
    ["a part of no message", Buffer.concat([frameHead({ bytes: 1, isFirst: false }), Buffer.of(0x20)])],
    ["a ping of more than a ping", Buffer.concat([Buffer.of(0x89, 0xfe, 0x7f, 0xff), Buffer.alloc(4)])],
  ])("lose their connection: %s", async (_, text) => {
    const socket = openSocket(node.door, upgradeText("permessage-deflate")).resume();
    const closed = new Promise<string>((resolve) => socket.once("close", () => resolve("closed")));
    await pause(200);
    socket.write(text);
    expect(await Promise.race([closed, pause(40_000)])).toBe("closed");
  });

  it("a flood of pings keeps no block waiting, nor others", async () => {
    const pings = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.of(0x89, 0x80, 0, 0, 0, 0)));
    await besiege(node, () => hold(50, pings));
  });
});
