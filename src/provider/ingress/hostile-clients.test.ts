import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { connect, createServer as createNetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { closed } from "../../../test/support/closed.ts";
import { Ingress, type IngressOptions } from "./index.ts";

const HOST = "app.example.com";
const OTHER = "other.example.com";
const STALL_MS = 500;
const MEBIBYTE = 1 << 20;
const HEAD = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n`;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** An ingress before one replica, which two leases have; returns its port. */
async function ingress(listener: RequestListener, overrides: Partial<IngressOptions> = {}): Promise<number> {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => server.close().closeAllConnections());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  const backends = () => [`127.0.0.1:${address.port}`];
  const made = new Ingress({ backends, host: "127.0.0.1", port: 0, ...overrides });
  cleanups.push(() => made.close());
  const lease = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
  const options = { maxBodySize: 1_000, readTimeout: 5_000, sendTimeout: 5_000, nextTries: 3, nextTimeout: 0 };
  made.routes.set(HOST, { lease, service: "web", port: 80, options });
  made.routes.set(OTHER, { lease: { ...lease, dseq: 8n }, service: "web", port: 80, options });
  return made.listen();
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  cleanups.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Everything that comes until the other end closes. */
async function answerOf(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => {
    text += String(chunk);
  });
  // A reset ends it too, where `once` of Node.js rejects.
  await new Promise<void>((resolve) => {
    socket.once("end", () => resolve());
    void closed(socket).then(resolve);
  });
  return text;
}

async function ask(port: number, host = HOST): Promise<string> {
  const socket = await open(port);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return answerOf(socket);
}

it("serves others while hundreds of clients have sent half a request", async () => {
  const port = await ingress((_request, response) => response.end("served"));
  for (let count = 0; count < 200; count++) (await open(port)).write(HEAD);
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 .*served/s);
});

it("gives a lease no more open requests and websockets than its share, and serves others", async () => {
  let waiting = 0;
  const port = await ingress(
    (request, response) => {
      if (request.headers.host !== HOST) return response.end("served");
      waiting++;
    },
    { openPerLease: 3 },
  );
  const held = await Promise.all(Array.from({ length: 3 }, () => open(port)));
  for (const socket of held) socket.write(`${HEAD}\r\n`);
  await expect.poll(() => waiting).toBe(3);
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 503 .*open/s);
  const upgrade = await open(port);
  upgrade.write(`${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  expect(await answerOf(upgrade)).toMatch(/^HTTP\/1\.1 503 /);
  expect(await ask(port, OTHER)).toMatch(/^HTTP\/1\.1 200 .*served/s);
  held[0]?.destroy();
  // The place is free as soon as the ingress sees that the client has left.
  await expect
    .poll(async () => {
      if (waiting === 3) (await open(port)).write(`${HEAD}\r\n`);
      return waiting;
    })
    .toBeGreaterThan(3);
});

const UPGRADE = "Connection: Upgrade\r\nUpgrade: ";
const BEGUN = `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 9\r\n\r\nhalf`;
/** Bytes that a client sends, and how its connection ends. */
const ENDS = {
  "while it waits": [`${HEAD}\r\n`, "destroy"],
  "with a reset": [`${HEAD}\r\n`, "reset"],
  "with its own half": [`${HEAD}\r\n`, "end"],
  "with requests that wait behind another": [`${HEAD}\r\n`.repeat(9), "destroy"],
  "in a body": [BEGUN, "destroy"],
  "in a body, with a reset": [BEGUN, "reset"],
  "behind a body that is too large": [BEGUN.replace("9", "9999"), "destroy"],
  "as a websocket": [`${HEAD}${UPGRADE}websocket\r\n\r\n`, "destroy"],
  "as a websocket behind a request": [`${HEAD}\r\n${HEAD}${UPGRADE}websocket\r\n\r\n`, "reset"],
  "with an upgrade that is ignored": [`${HEAD}${UPGRADE}h2c\r\n\r\n`, "reset"],
  "with an upgrade that is ignored, behind a request": [`${HEAD}\r\n${HEAD}${UPGRADE}h2c\r\n\r\n`, "wait"],
} as const;

it.each(Object.entries(ENDS))("gives a place back when a connection ends %s", async (_, [text, end]) => {
  const share = 3;
  let isHolding = true;
  const held: ServerResponse[] = [];
  const port = await ingress((_request, response) => void (isHolding ? held.push(response) : response.end("served")), {
    openPerLease: share,
  });
  for (let count = 0; count < 2 * share; count++) {
    const socket = await open(port);
    socket.write(text);
    await sleep(30);
    if (end === "reset") socket.resetAndDestroy();
    else if (end === "end") socket.end();
    else if (end === "destroy") socket.destroy();
    for (const response of held.splice(0)) response.end();
  }
  isHolding = false;
  await expect
    .poll(async () => (await Promise.all([ask(port), ask(port), ask(port)])).map((got) => got.slice(9, 12)))
    .toEqual(["200", "200", "200"]);
});

it("hands on the requests of a connection one by one, and ends one that sends hundreds at once", async () => {
  let asked = 0;
  let most = 0;
  let reached = 0;
  const port = await ingress((_request, response) => {
    reached++;
    most = Math.max(most, ++asked);
    setTimeout(() => {
      asked--;
      response.end("served");
    }, 5);
  });
  const patient = await open(port);
  patient.write(`${HEAD}\r\n`.repeat(9));
  patient.write(`${HEAD}Connection: close\r\n\r\n`);
  expect((await answerOf(patient)).match(/served/g)).toHaveLength(10);
  expect({ most, reached }).toEqual({ most: 1, reached: 10 });
  const greedy = await open(port);
  greedy.write(`${HEAD}\r\n`.repeat(900));
  greedy.resume().once("end", () => greedy.destroy());
  await closed(greedy);
  expect(reached).toBeLessThanOrEqual(11);
});

it("passes nothing on for a client that ends its side in the middle of a head or a body", async () => {
  let reached = 0;
  const port = await ingress((request, response) => {
    request.on("error", () => {});
    request.resume().on("end", () => {
      reached++;
      response.end("served");
    });
  });
  for (const text of [HEAD, `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 10\r\n\r\nhalf`]) {
    const socket = await open(port);
    socket.end(text);
    expect(await answerOf(socket)).not.toMatch(/^HTTP\/1\.1 200/);
  }
  expect(reached).toBe(0);
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 200 .*served/s);
});

it.each([
  ["as long as allowed", 15 << 10, 200],
  ["longer", 17 << 10, 431],
])("takes a head %s: %d bytes, %d", async (_, length, status) => {
  const port = await ingress((_request, response) => response.end("served"));
  const socket = await open(port);
  socket.write(`${HEAD}Connection: close\r\nX: ${"a".repeat(length)}\r\n\r\n`);
  expect(await answerOf(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
});

it("reads no more from a replica than a client takes", async () => {
  const piece = Buffer.alloc(MEBIBYTE);
  const most = 256;
  let written = 0;
  let stalled = () => {};
  const full = new Promise<void>((resolve) => {
    stalled = resolve;
  });
  const port = await ingress((_request, response) => {
    response.on("error", () => {});
    const write = (): void => {
      while (++written < most) {
        if (response.write(piece)) continue;
        // The buffers of the kernel and both ends are soon full; then nothing more is taken.
        const timer = setTimeout(stalled, STALL_MS);
        response.once("drain", () => {
          clearTimeout(timer);
          write();
        });
        return;
      }
      stalled();
    };
    write();
  });
  const socket = await open(port);
  socket.pause();
  socket.write(`${HEAD}\r\n`);
  await full;
  expect(written).toBeLessThan(most / 4);
});

it("carries bodies in very many parts whole, in few parts", async () => {
  const count = 900;
  const chunks = `${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`;
  let parts = 0;
  const port = await ingress((request, response) => {
    let text = "";
    request.on("data", (part) => {
      parts++;
      text += String(part);
    });
    request.on("end", () => {
      response.socket?.end(
        `HTTP/1.1 200 OK\r\nConnection: close\r\nX-Length: ${text.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
      );
    });
  });
  const socket = await open(port);
  socket.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
  const answer = await answerOf(socket);
  const sizes = [...answer.matchAll(/^([0-9a-f]+)\r\nx/gm)].map(([, size = ""]) => Number.parseInt(size, 16));
  expect(answer).toContain(`X-Length: ${count}`);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
  // As many as turns of the event loop, each with one by itself.
  for (const most of [parts, sizes.length]) expect(most).toBeLessThan(count / 10);
});

it("gives up a replica that sends informational answers without end", async () => {
  let asked = 0;
  const replica = createNetServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      asked++;
      const more = (): void => {
        while (!socket.destroyed && socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)));
      };
      socket.on("drain", more);
      more();
    });
  });
  await once(replica.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => replica.close());
  const address = replica.address();
  const backend = typeof address === "object" ? `127.0.0.1:${address?.port}` : "";
  const port = await ingress((_request, response) => response.end(), { backends: () => [backend] });
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 502 /);
  expect(asked).toBe(1);
});
