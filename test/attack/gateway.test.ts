import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { GatewayHarness } from "../support/provider/gateway.ts";
import { Flooder } from "./lib/flood.ts";
import type { FloodKind } from "./lib/flood-process.ts";
import { outlast } from "./lib/outlast.ts";

const ELSEWHERE = "127.0.0.99";
/** As many as one address may have. */
const CONNECTIONS = 64;
const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];

let flooder: Flooder;
let harness: GatewayHarness;
beforeAll(async () => {
  flooder = await Flooder.make();
});
afterAll(() => flooder?.close());
beforeEach(async () => {
  // All bodies of the flood are read.
  harness = await GatewayHarness.open({ bodiesPerNetwork: 1 << 30 }, { grpc: true });
});
afterEach(async () => {
  await flooder.end();
  await harness.close();
});

/** Status of a request on a new connection. */
async function askStatus(): Promise<number> {
  const place = { host: "127.0.0.1", port: harness.port, localAddress: ELSEWHERE, path: "/version" };
  const asked = request({ ...place, agent: false, rejectUnauthorized: false }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode ?? 0;
}

const floods: readonly [what: string, kind: FloodKind, path: string, requests: number][] = [
  ["requests sent ahead", "http1", "/status", 16],
  ["bodies in parts of one byte", "parts", "/screen", 1],
  ["calls of gRPC", "http2", "/svc.provider.v1.ProviderRPC/GetStatus", 32],
  ["bodies of gRPC in parts of one byte", "parts of http2", "/svc.provider.v1.ProviderRPC/GetStatus", 1],
  ["handshakes", "handshakes", "/", 0],
];

describe("a gateway outlasts floods from four addresses", () => {
  it.each(floods)("%s", async (_, kind, path, requests) => {
    const { begin } = await flooder.start();
    const port = kind.endsWith("http2") ? (harness.gateway.grpcPort ?? 0) : harness.port;
    const order = { kind, path, requests, port, isSecure: true, host: "gateway" };
    const flood = async () => begin({ ...order, addresses: ADDRESSES, connections: CONNECTIONS });
    await outlast(flood, { flooder, pid: process.pid, ask: askStatus });
  });
});
