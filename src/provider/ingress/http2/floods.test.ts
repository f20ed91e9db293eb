import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { request as httpsRequest } from "node:https";
import type { Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { pause } from "../../../../test/support/wait.ts";
import { readFileText } from "../../../util/index.ts";
import { AUTHORITY, openAuthority } from "../../certificates/index.ts";
import { Ingress } from "../server.ts";

/** Frames that make work and ask for nothing: their sender is cut off, and others are served meanwhile and afterwards. */

const HOST = "app.example.com";
const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const OPTIONS = { maxBodySize: 100_000, readTimeout: 5_000, sendTimeout: 5_000, nextTries: 3, nextTimeout: 0 };
const FRAME = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 } as const;
const FLAG = { endStream: 1, endHeaders: 4 } as const;
const PAGE_BYTES = 100_000;
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function frame(type: number, flags: number, stream: number, payload: Buffer | number = 0): Buffer {
  const body = typeof payload === "number" ? Buffer.alloc(payload) : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** GET / of the host (RFC 7541: three fields of the static table, and the authority). */
const GET = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x41, HOST.length]), Buffer.from(HOST)]);
const INCREASE = Buffer.from([0, 0, 0, 1]);

/** POST / of a call of gRPC. */
const CALL = Buffer.concat([
  Buffer.from([0x83, 0x87, 0x84, 0x41, HOST.length]),
  Buffer.from(HOST),
  Buffer.from([0x5f, 16]),
  Buffer.from("application/grpc"),
]);

/** The ingress before a page of many bytes, or before the service given, with the certificate that its clients trust. */
async function serve(replica: NetServer = createServer((_request, response) => response.end("x".repeat(PAGE_BYTES)))) {
  const folder = mkdtempSync(join(tmpdir(), "svc-floods-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const { chain, key } = await (await openAuthority(folder)).issue(HOST, new AbortController().signal);
  writeFileSync(join(folder, "app.pem"), chain + key, { mode: 0o600 });
  await once(replica.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => void replica.close());
  const address = replica.address();
  const backend = typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
  const ingress = new Ingress({
    backends: () => [backend],
    host: "127.0.0.1",
    port: 0,
    tls: { host: "127.0.0.1", port: 0, folders: [folder], redirect: false },
  });
  cleanups.push(() => ingress.close());
  ingress.routes.set(HOST, { lease: LEASE, service: "web", port: 80, options: OPTIONS });
  await ingress.listen();
  const ca = readFileText(join(folder, AUTHORITY.certificate), { maxBytes: 10_000 });
  return { port: ingress.tlsPort, ca };
}

async function others({ port, ca }: { readonly port: number; readonly ca: string }): Promise<number> {
  const options = { host: "127.0.0.1", port, ca, servername: HOST, headers: { host: HOST }, agent: false as const };
  const [answer] = (await once(httpsRequest(options).end(), "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode ?? 0;
}

async function attacker({ port, ca }: { readonly port: number; readonly ca: string }): Promise<TLSSocket> {
  const socket = tlsConnect({ host: "127.0.0.1", port, ca, servername: HOST, ALPNProtocols: ["h2"] });
  socket.on("error", () => {});
  cleanups.push(() => socket.destroy());
  await once(socket, "secureConnect");
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]));
  return socket;
}

type Flood = (round: number) => Buffer;

const ROUNDS = 40;

/** Sends the frames, some thousand in all, until the connection ends; whether it ended before all were sent or within the patience. */
async function flood(socket: TLSSocket, frames: Flood, patienceMs = 2_000): Promise<boolean> {
  let ended = false;
  socket.resume().once("close", () => {
    ended = true;
  });
  for (let round = 0; round < ROUNDS && !ended; round++) {
    socket.write(frames(round));
    await pause(5);
  }
  const late = performance.now() + patienceMs;
  while (!ended && performance.now() < late) await pause(10);
  return ended;
}

const many = (count: number, make: (n: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, n) => make(n)));
const streamOf = (round: number, n: number) => 1 + 2 * (round * 100 + n);

it.each<[string, Flood]>([
  ["pings", () => many(100, () => frame(FRAME.ping, 0, 0, 8))],
  ["settings", () => many(100, () => frame(FRAME.settings, 0, 0))],
  [
    "requests taken back at once",
    (round) =>
      many(100, (n) =>
        Buffer.concat([
          frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, streamOf(round, n), GET),
          frame(FRAME.reset, 0, streamOf(round, n), Buffer.from([0, 0, 0, 8])),
        ]),
      ),
  ],
  [
    "headers that never end",
    (round) =>
      Buffer.concat([
        round === 0 ? frame(FRAME.headers, 0, 1, GET) : Buffer.alloc(0),
        many(20, () => frame(FRAME.continuation, 0, 1, Buffer.alloc(8_000, 0x84))),
      ]),
  ],
  [
    "headers that never end, without a byte",
    (round) =>
      Buffer.concat([
        round === 0 ? frame(FRAME.headers, 0, 1, GET) : Buffer.alloc(0),
        many(500, () => frame(FRAME.continuation, 0, 1)),
      ]),
  ],
  [
    "windows that grow beyond all bounds",
    () => many(100, () => frame(FRAME.window, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))),
  ],
])("%s end the connection, and nobody else's", async (_, frames) => {
  const ingress = await serve();
  const socket = await attacker(ingress);
  const ends = flood(socket, frames, 30_000);
  expect(await others(ingress)).toBe(200);
  expect(await ends).toBe(true);
  expect(await others(ingress)).toBe(200);
});

it.each<[string, Flood]>([
  [
    "priorities",
    (round) => many(500, (n) => frame(FRAME.priority, 0, streamOf(round, n), Buffer.from([0, 0, 0, 0, 1]))),
  ],
  ["small windows", () => many(500, () => frame(FRAME.window, 0, 0, INCREASE))],
  ["unknown frames", () => many(500, () => frame(0xee, 0, 0, 64))],
  [
    "pieces of a body without a byte",
    (round) =>
      Buffer.concat([
        round === 0 ? frame(FRAME.headers, FLAG.endHeaders, 1, GET) : Buffer.alloc(0),
        many(500, () => frame(FRAME.data, 0, 1)),
      ]),
  ],
  // Nothing is read after the first fault; the connection ends as one without a request.
  [
    "settings of many values",
    () => many(100, () => frame(FRAME.settings, 0, 0, Buffer.alloc(6 * 1_000, Buffer.from([0, 99, 0, 0, 0, 1])))),
  ],
  ["frames of a stream that never was", (round) => many(100, (n) => frame(FRAME.data, 0, streamOf(round, n), 1))],
])("%s keep nobody waiting", async (_, frames) => {
  const ingress = await serve();
  const ends = flood(await attacker(ingress), frames);
  for (let n = 0; n < 3; n++) expect(await others(ingress)).toBe(200);
  await ends;
  expect(await others(ingress)).toBe(200);
});

it("a header that the table repeats thousands of times is refused, and not unpacked", async () => {
  const ingress = await serve();
  const socket = await attacker(ingress);
  const long = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0x81, 0x1e]), Buffer.alloc(4_000, 0x62)]);
  // The first request puts a field of 4,000 bytes into the table; the next names it 10,000 times: 40 MB in 10 kB.
  socket.write(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, Buffer.concat([GET, long])));
  const before = process.memoryUsage().heapUsed;
  await flood(socket, (round) =>
    frame(
      FRAME.headers,
      FLAG.endHeaders | FLAG.endStream,
      3 + 2 * round,
      Buffer.concat([GET, Buffer.alloc(10_000, 0xbe)]),
    ),
  );
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 << 20);
  expect(await others(ingress)).toBe(200);
});

it("a reader who opens no window holds no more than his requests", async () => {
  const ingress = await serve();
  const socket = await attacker(ingress);
  socket.write(frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])));
  socket.write(many(200, (n) => frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, streamOf(0, n), GET)));
  for (let n = 0; n < 5; n++) expect(await others(ingress)).toBe(200);
});

it("small messages of gRPC that come at once are no flood", async () => {
  const messages = 3_000;
  const service = createHttp2Server().on("stream", async (stream) => {
    let bytes = 0;
    for await (const piece of stream) bytes += piece.length;
    stream.respond({ ":status": 200, "x-bytes": bytes });
    stream.end(`bytes: ${bytes}`);
  });
  const socket = await attacker(await serve(service));
  socket.write(frame(FRAME.headers, FLAG.endHeaders, 1, CALL));
  socket.write(many(messages, (n) => frame(FRAME.data, n === messages - 1 ? FLAG.endStream : 0, 1, 1)));
  let seen = "";
  for await (const piece of socket) {
    seen += String(piece);
    if (seen.includes("bytes: ")) break;
  }
  expect(seen).toContain(`bytes: ${messages}`);
});

it("a ping for each piece of an answer, as clients of gRPC measure their line, is no flood", async () => {
  const pages = 300;
  const socket = await attacker(await serve());
  const wide = Buffer.from([0x7f, 0xf0, 0, 0]);
  socket.write(frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), wide])));
  socket.write(frame(FRAME.window, 0, 0, wide));
  let [asked, bytes] = [0, 0];
  const next = () => {
    const request = frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, streamOf(0, asked++), GET);
    socket.write(Buffer.concat([request, frame(FRAME.ping, 0, 0, 8)]));
  };
  next();
  for await (const piece of socket) {
    bytes += piece.length;
    if (bytes > asked * PAGE_BYTES && asked < pages) next();
    if (bytes > pages * PAGE_BYTES) break;
  }
  expect(bytes).toBeGreaterThan(pages * PAGE_BYTES);
});
