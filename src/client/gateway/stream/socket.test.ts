import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { messagesOf } from "./socket.ts";

let server: WebSocketServer;
let client: WebSocket;
let provider: WebSocket;
let pongs: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  [[provider]] = await Promise.all([once(server, "connection"), once(client, "open")]);
  pongs = 0;
  provider.on("pong", () => pongs++);
});

afterEach(async () => {
  vi.useRealTimers();
  client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

/** Resolves when the provider has everything that was sent until now. */
async function arrived(): Promise<void> {
  client.send("mark");
  await once(provider, "message");
}

it("shows signs of life while it is paused, and only then", async () => {
  messagesOf(client);
  vi.advanceTimersByTime(3_000);
  await arrived();
  expect(pongs).toBe(0);
  client.pause();
  vi.advanceTimersByTime(3_000);
  await arrived();
  expect(pongs).toBe(3);
  client.resume();
  vi.advanceTimersByTime(3_000);
  await arrived();
  expect(pongs).toBe(3);
});

it("shows none after its end", async () => {
  messagesOf(client);
  expect(vi.getTimerCount()).toBe(1);
  provider.close();
  await once(client, "close");
  expect(vi.getTimerCount()).toBe(0);
});
