import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { expect, it, vi } from "vitest";
import { ByteBudget } from "./byte-budget.ts";
import { sendHeld } from "./send.ts";

it("counts bytes that come little by little, in the place of the first of them", () => {
  const budget = new ByteBudget(10);
  const gone: string[] = [];
  const [first, second, third] = ["first", "second", "third"].map((name) => budget.begin(() => gone.push(name)));
  expect([first?.add(3), second?.add(3), first?.add(3), third?.add(4)]).toEqual([true, true, true, true]);
  expect(gone).toEqual(["first"]);
  expect(first?.add(1)).toBe(false);
  expect(budget.held).toBe(7);
  second?.release();
  third?.release();
  expect(budget.held).toBe(0);
});

it("drops nobody who holds less than others", () => {
  const budget = new ByteBudget(100);
  const gone: string[] = [];
  budget.hold(1, () => gone.push("small"));
  for (const name of ["first", "second", "third"]) budget.hold(45, () => gone.push(name));
  expect(gone).toEqual(["first"]);
});

it("drops a client that takes all the room itself, once", () => {
  const budget = new ByteBudget(10);
  let times = 0;
  const held = budget.begin(() => {
    times += 1;
  });
  expect([held.add(6), held.add(6), held.add(1)]).toEqual([true, false, false]);
  held.release();
  expect([times, budget.held]).toEqual([1, 0]);
});

it("holds nothing for a client that has gone", () => {
  const unread = new ByteBudget(10);
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.destroy();
  const send = () => expect.unreachable();
  expect(sendHeld(response, { bytes: 5, send }, { unread, readWithinMs: 60_000 })).toBe(false);
  expect(unread.held).toBe(0);
});

it("drops the reader that has been reading longest, and refuses what no room is enough for", () => {
  const limits = { unread: new ByteBudget(10), readWithinMs: 60_000 };
  const readers = Array.from({ length: 3 }, () => new ServerResponse(new IncomingMessage(new Socket())));
  // Without a connection, nothing is read.
  const held = readers.map((response, i) => {
    const send = (): void => void response.end("an answer");
    return sendHeld(response, { bytes: [8, 8, 11][i] ?? 0, send }, limits);
  });
  expect(limits.unread.held).toBe(8);
  expect(held).toEqual([true, true, false]);
  expect(readers.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  for (const response of readers) response.destroy();
});

it("holds an answer that its client does not read, until it has gone, and none that the system takes at once", async () => {
  const limits = { unread: new ByteBudget(100_000_000), readWithinMs: 60_000 };
  const held: number[] = [];
  const server = createServer((request, response) => {
    const text = "a".repeat(request.url === "/large" ? 50_000_000 : 100);
    sendHeld(response, { bytes: text.length, send: () => response.end(text) }, limits);
    held.push(limits.unread.held);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  client.write("GET /small HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(client, "data");
  client.pause();
  client.write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(server, "request");
  expect(held).toEqual([0, 50_000_000]);
  client.destroy();
  await vi.waitFor(() => expect(limits.unread.held).toBe(0), 30_000);
  server.close();
});
