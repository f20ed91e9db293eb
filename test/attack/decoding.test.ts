import { connect as connectHttp2 } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../support/ports.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { type Door, openSocket } from "./lib/sockets.ts";
import { threadTimeDuring } from "./lib/thread-time.ts";

/** As much as a call of gRPC may have by the settings of a node. */
const MANY_BYTES = 9_000_000;
/** Processor time of the busiest thread; a refusal takes some 20 ms, decoding took 2,000 to 4,000. */
const SOON_MS = 400;

const BALANCE = "/cosmos.bank.v1beta1.Query/AllBalances";
const ENCODE = "/cosmos.tx.v1beta1.Service/TxEncode";

let node: AttackedNode;
let grpc: Door;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  grpc = { host: "127.0.0.1", port };
  node = await AttackedNode.start({ flags: ["--grpc.address", `tcp://127.0.0.1:${port}`] });
});
afterAll(() => node?.close());

/** The status with which a body is answered; the rest of a body that is refused is not read. */
function post(path: string, body: Uint8Array | string, type = "application/json"): Promise<number> {
  const bytes = Buffer.from(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = openSocket(grpc, Buffer.concat([Buffer.from(head), bytes]));
    let text = "";
    socket.on("data", (part) => {
      text += part;
      if (text.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("close", () => resolve(Number(text.slice(9, 12))));
  });
}

/** The status of a call over gRPC with a deadline, as clients of most languages set one. */
function call(path: string, message: Buffer): Promise<string> {
  const session = connectHttp2(`http://${grpc.host}:${grpc.port}`);
  session.on("error", () => {});
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", "grpc-timeout": "30S" };
  const stream = session.request(headers);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return new Promise((resolve) => {
    let status = "none";
    const told = (each: { readonly "grpc-status"?: string | string[] | undefined }): void => {
      status = String(each["grpc-status"] ?? status);
      if (status !== "none") session.destroy();
    };
    stream
      .on("response", told)
      .on("trailers", told)
      .on("error", () => {});
    stream.on("close", () => {
      session.destroy();
      resolve(status);
    });
    stream.resume().end(Buffer.concat([frame, message]));
  });
}

const SHAPES: readonly [string, (bytes: number) => string][] = [
  ["lists in one another", (bytes) => `{"address":${"[".repeat(bytes)}`],
  ["objects side by side", (bytes) => `{"address":[${"{},".repeat(bytes / 3)}1]}`],
  ["keys", (bytes) => `{${Array.from({ length: bytes / 12 }, (_, i) => `"k${i}":1`).join(",")}}`],
];

/** A message of empty two-byte fields with one number, nested in a message for each preceding number. */
function fields(bytes: number, ...numbers: readonly number[]): Buffer {
  const [inmost = 1, ...outer] = [...numbers].reverse();
  let message = Buffer.alloc(bytes, Buffer.of((inmost << 3) | 2, 0));
  for (const number of outer) {
    const head = [(number << 3) | 2];
    for (let left = message.length; left > 0; left = Math.floor(left / 128))
      head.push((left % 128) + (left > 127 ? 128 : 0));
    message = Buffer.concat([Buffer.from(head), message]);
  }
  return message;
}

/** A request is refused, and its refusal takes little of the threads. */
async function refusedSoon(ask: () => Promise<unknown>): Promise<void> {
  const ms = await threadTimeDuring(node.pid, async () => expect(await ask()).not.toBe("0"));
  expect(ms).toBeLessThan(SOON_MS);
}

describe.each(SHAPES)("JSON of %s", (_, make) => {
  it("takes little of the thread that serves gRPC, with and without room for a transaction", async () => {
    const [long, shorter] = [make(MANY_BYTES), make(1_900_000)];
    for (const path of [BALANCE, ENCODE]) {
      for (const body of [long, shorter]) {
        await refusedSoon(async () => {
          expect(await post(path, body)).toBeGreaterThanOrEqual(400);
        });
      }
    }
  });
});

describe("messages of millions of empty fields", () => {
  it.each([
    ["a query", BALANCE, [2]],
    ["a transaction to encode", ENCODE, [1, 2, 1]],
  ])("take little of the threads in %s", async (_, path, numbers) => {
    for (const bytes of [1_900_000, MANY_BYTES]) {
      const message = fields(bytes, ...numbers);
      await refusedSoon(() => call(path, message));
      await refusedSoon(async () => {
        expect(await post(path, message, "application/proto")).toBeGreaterThanOrEqual(400);
      });
    }
  });
});

it("long bodies of JSON keep no block waiting, nor others", async () => {
  const [, make] = SHAPES[0] ?? ["", String];
  const body = make(MANY_BYTES);
  await besiege(node, () => Promise.all(Array.from({ length: 4 }, () => post(BALANCE, body))));
});
