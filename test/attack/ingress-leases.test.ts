import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type Server } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { AttackedPlane } from "./lib/attacked-plane.ts";
import type { FloodKind } from "./lib/flood-process.ts";
import { outlast } from "./lib/outlast.ts";

const [BUSY, NEIGHBOUR] = ["busy.example.com", "neighbour.example.com"];
const VISITORS = Array.from({ length: 32 }, (_, i) => `127.0.1.${i + 1}`);
/** Connections of each visitor. */
const CONNECTIONS = 24;
/** The same where a server has to read ten thousand parts of each, which takes it 50 ms. */
const CONNECTIONS_OF_PARTS = 8;

let plane: AttackedPlane;
let service: Server;
let agent: Agent;

beforeAll(async () => {
  plane = await AttackedPlane.start([]);
  service = createServer((_request, response) => response.end("neighbour"));
  await once(service.listen(0, "127.0.0.1"), "listening");
  const address = service.address();
  await plane.route(1n, NEIGHBOUR, `127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
});
afterAll(async () => {
  await plane?.close();
  service?.close();
});
beforeEach(() => {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(() => {
  agent.destroy();
  return plane.endFlood();
});

/** The page of the neighbour, over one connection that stays open. */
async function askNeighbour(): Promise<number> {
  const asked = request({ host: "127.0.0.1", port: plane.port, headers: { host: NEIGHBOUR }, agent }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode ?? 0;
}

const kinds: readonly [what: string, path: string, kind: FloodKind, connections?: number][] = [
  ["asks as often as it can", "/cheap", "http1"],
  ["gets answers of a megabyte", "/big", "http1"],
  ["waits for slow answers", "/slow", "http1"],
  ["gets answers in parts of one byte that never end", "/bytes", "http1"],
  ["gets informational answers without end", "/informations", "http1"],
  ["gets headers without end", "/headers", "http1"],
  ["sends and gets small frames of websockets", "/frames", "websockets"],
  ["sends bodies in parts of one byte", "/cheap", "parts", CONNECTIONS_OF_PARTS],
];

describe("the ingress outlasts hundreds of busy visitors of one lease, when each of them", () => {
  it.each(kinds)("%s", async (_, path, kind, connections = CONNECTIONS) => {
    const order = { dseq: 2n, kind, path, isSecure: false, host: BUSY, requests: 1 };
    const flood = () => plane.flood({ ...order, addresses: VISITORS, connections });
    await outlast(flood, { flooder: plane.flooder, pid: plane.pid, ask: askNeighbour });
  });
});
