import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { GatewayHarness } from "../../src/provider/testing/gateway.ts";
import { Flooder } from "./lib/flood.ts";
import type { FloodKind } from "./lib/flood-process.ts";
import { roundsBeside } from "./lib/newcomer.ts";

const ELSEWHERE = "127.0.0.99";
/** As many as one address may have. */
const CONNECTIONS = 64;
const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
/** Without turns a newcomer waits until each of them has been served several times. */
const ALL = ADDRESSES.length * CONNECTIONS;

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

/** What a newcomer asks, on a connection of its own. */
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

describe("floods of a gateway from four addresses keep a newcomer waiting for little", () => {
  it.each(floods)("%s", async (_, kind, path, requests) => {
    const { begin } = await flooder.start();
    const port = kind.endsWith("http2") ? (harness.gateway.grpcPort ?? 0) : harness.port;
    begin({
      kind,
      path,
      requests,
      port,
      isSecure: true,
      host: "gateway",
      addresses: ADDRESSES,
      connections: CONNECTIONS,
    });
    // The first bodies in parts of all of them come before most newcomers.
    await flooder.isUnderWay(ALL, kind === "parts" ? ALL : ALL / 4);
    const ask = async () => expect(await askStatus()).toBe(200);
    const between = async (from: number, to: number) => (await flooder.state(from, to)).served;
    expect(await roundsBeside({ ask, served: between, pid: process.pid, times: 9 })).toBeLessThan(ALL);
  });
});
