import { connect } from "node:http2";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Query as Bank } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { pause } from "../support/index.ts";
import { freePorts } from "../support/ports.ts";
import { atNight } from "../support/runs.ts";
import { AttackedNode, PATIENCE_MS } from "./lib/attacked-node.ts";
import * as h2 from "./lib/http2.ts";
import { besiege, type Limits } from "./lib/siege.ts";
import { type Door, getText, openSocket } from "./lib/sockets.ts";

const PARAMS = "/sdk.bank.v1beta1.Query/Params";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** An empty message in its frame of gRPC. */
const EMPTY = Buffer.alloc(5);
/** A call whose body may be longest. */
const BROADCAST = "/cosmos.tx.v1beta1.Service/BroadcastTx";
/** More than the server takes at a time. */
const CONNECTIONS = 1_200;
/** Open calls per connection. */
const STREAMS = 100;
/** Connections with as many calls each. */
const FLOODING = 300;

let node: AttackedNode;
let door: Door;
let limits: Limits;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  door = { host: "127.0.0.1", port };
  node = await AttackedNode.start({ flags: ["--grpc.address", `tcp://127.0.0.1:${port}`] });
  limits = { askMore: askAnew };
});
afterAll(() => node?.close());

/** As a new client, on its own connection. */
async function askAnew(): Promise<void> {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${door.port}`, idleConnectionTimeoutMs: 1 });
  const bank = createClient(Bank, transport);
  const { params } = await bank.params({}, { timeoutMs: PATIENCE_MS });
  expect(params?.defaultSendEnabled).toBe(true);
}

/** Opens connections that each begin with something, holds them for a while, and then abandons them. */
async function hold(count: number, open: () => ReturnType<typeof openSocket>, goOn: Uint8Array[] = []): Promise<void> {
  const sockets = Array.from({ length: count }, open);
  for (let i = 0; i < 6; i++) {
    await pause(500);
    for (const part of goOn) for (const socket of sockets) socket.write(part);
  }
  for (const socket of sockets) socket.destroy();
}

describe("connections to gRPC that are held open", () => {
  it.each([
    ["say nothing", () => openSocket(door)],
    ["say half of what begins HTTP/2", () => openSocket(door, "PRI * HTT")],
    ["begin HTTP/2 and ask nothing", () => h2.openHttp2(door)],
    ["begin a call that does not end", () => h2.openHttp2(door, callWithoutEnd())],
    ["were answered once over HTTP/1", () => openSocket(door, getText("/"))],
  ])("and %s keep nobody out", async (_, open) => {
    await besiege(node, () => hold(CONNECTIONS, open), limits);
  });
});

function callWithoutEnd(): Buffer {
  return Buffer.concat([h2.settings(), h2.beginCall(1, h2.callHeaders(PARAMS))]);
}

describe("frames of HTTP/2 in floods", () => {
  const block = h2.callHeaders(PARAMS);
  const many = (count: number, make: (i: number) => Uint8Array) =>
    Buffer.concat(Array.from({ length: count }, (_, i) => make(i)));
  const floods: [string, Buffer][] = [
    [
      "calls that are taken back at once",
      many(20_000, (i) => Buffer.concat([h2.beginCall(2 * i + 1, block), h2.resetStream(2 * i + 1)])),
    ],
    ["settings", many(50_000, () => h2.settings([3, 100]))],
    ["pings", many(50_000, () => h2.frame(h2.FRAME.ping, { payload: Buffer.alloc(8) }))],
    [
      "headers without an end",
      Buffer.concat([
        h2.beginHeaders(1, block),
        many(2_000, () =>
          h2.frame(h2.FRAME.more, { stream: 1, payload: Buffer.concat([h2.remembered("x", "y".repeat(8_000))]) }),
        ),
      ]),
    ],
    [
      "empty parts of headers",
      Buffer.concat([h2.beginHeaders(1, block), many(50_000, () => h2.frame(h2.FRAME.more, { stream: 1 }))]),
    ],
    [
      "empty parts of a body",
      Buffer.concat([h2.beginCall(1, block), many(50_000, () => h2.frame(h2.FRAME.data, { stream: 1 }))]),
    ],
    ["priorities", many(50_000, (i) => h2.frame(h2.FRAME.priority, { stream: 2 * i + 1, payload: Buffer.alloc(5) }))],
    [
      "windows byte by byte",
      Buffer.concat([
        h2.beginCall(1, block),
        many(50_000, () => h2.frame(h2.FRAME.window, { payload: Buffer.from([0, 0, 0, 1]) })),
      ]),
    ],
    ["whole calls", many(5_000, (i) => h2.wholeCall(2 * i + 1, block, EMPTY))],
  ];

  it.each(floods)("of %s keep no block waiting, nor others", async (_, flood) => {
    await besiege(
      node,
      async () => {
        const sockets = Array.from({ length: 10 }, () => h2.openHttp2(door, Buffer.concat([h2.settings(), flood])));
        await pause(1_500);
        for (const socket of sockets) socket.destroy();
      },
      limits,
    );
  });
});

describe("connections that come again and again with a hundred calls each", () => {
  const calls = h2.streams(STREAMS).map((stream) => h2.wholeCall(stream, h2.callHeaders(PARAMS), EMPTY));
  const first = Buffer.concat([h2.settings(), ...calls]);

  it("hold back no block", async () => {
    await besiege(node, async () => {
      for (let i = 0; i < 4; i++) {
        const sockets = Array.from({ length: FLOODING }, () => h2.openHttp2(door, first));
        await pause(500);
        for (const socket of sockets) socket.destroy();
      }
    });
  });
});

describe("calls that take much memory for little", () => {
  atNight(() =>
    it("by headers of 7 kB that come in a few bytes", async () => {
      const [value, block] = ["v".repeat(3_400), h2.callHeaders(PARAMS)];
      const packed = Buffer.concat([block, h2.AGAIN, h2.AGAIN]);
      const calls = h2
        .streams(STREAMS)
        .map((stream, i) => h2.beginCall(stream, i === 0 ? Buffer.concat([block, h2.remembered("x", value)]) : packed));
      await besiege(node, () => hold(300, () => h2.openHttp2(door, Buffer.concat([h2.settings(), ...calls]))));
      await askAnew();
    }),
  );

  it("by bodies of nearly the greatest length that do not end", async () => {
    await besiege(node, () => sendBodies(100, 2 ** 21), limits);
  });

  it("by requests of reflection whose answers are not read", async () => {
    const question = Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]);
    const asked = Buffer.concat(Array.from({ length: 200 }, () => question));
    const calls = h2
      .streams(STREAMS)
      .flatMap((stream) => [
        h2.beginCall(stream, h2.callHeaders(REFLECTION)),
        h2.frame(h2.FRAME.data, { stream, payload: asked }),
      ]);
    // Nothing may be sent to this client.
    const deaf = Buffer.concat([h2.settings([4, 0]), ...calls]);
    await besiege(node, () => hold(100, () => h2.openHttp2(door, deaf)), limits);
  });
});

/** Sends so many bodies on one connection, in parallel, and finishes none. */
async function sendBodies(count: number, bytes: number): Promise<void> {
  const session = connect(`http://127.0.0.1:${door.port}`);
  session.on("error", () => {});
  const body = Buffer.alloc(bytes);
  body.writeUInt32BE(bytes, 1);
  for (let i = 0; i < count; i++) {
    const stream = session.request({ ":method": "POST", ":path": BROADCAST, "content-type": "application/grpc" });
    stream.on("error", () => {});
    stream.write(body);
  }
  await pause(6_000);
  session.destroy();
}
