import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayHarness } from "../support/provider/gateway.ts";
import { PROVIDER } from "../support/provider/leases.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A client of gRPC that knows no descriptor reads the status of a provider. */

const curl = await buildPeer("grpcurl");
let gateway: GatewayHarness | undefined;

test.skipIf(!(curl instanceof Peer) && process.env.CI !== "true")("the client by reflection is there", () => {
  expect(curl).toBeInstanceOf(Peer);
});

beforeAll(async () => {
  gateway = await GatewayHarness.open({ statusEvery: 50 }, { grpc: true });
});

afterAll(async () => {
  if (curl instanceof Peer) curl.remove();
  await gateway?.close();
});

/** Output of the client. */
async function asked(words: readonly string[], about: readonly string[]) {
  if (!(curl instanceof Peer)) throw new Error("the client is not there");
  return curl.run(["-insecure", ...words, `127.0.0.1:${gateway?.gateway.grpcPort}`, ...about]);
}

test.skipIf(!(curl instanceof Peer))("finds the service, asks once, and follows it", async () => {
  const services = (await asked(["-max-time", "20"], ["list"])).out.trim().split("\n");
  expect(services).toEqual(expect.arrayContaining(["grpc.health.v1.Health", "svc.provider.v1.ProviderRPC"]));
  const once = await asked(["-max-time", "20"], ["svc.provider.v1.ProviderRPC/GetStatus"]);
  expect(JSON.parse(once.out)).toMatchObject({ address: PROVIDER, bidEngine: { orders: 2 } });
  let looks = 0;
  if (gateway !== undefined)
    gateway.sources.orderCount = () => {
      looks += 1;
      // Long after the change was reported.
      if (looks === 20) gateway?.dropStreams();
      return looks < 10 ? 2 : 7;
    };
  const { out, err } = await asked(["-max-time", "60"], ["svc.provider.v1.ProviderRPC/StreamStatus"]);
  expect(err).toContain("Unavailable");
  expect(out.match(/"orders": \d+/g)).toEqual(['"orders": 2', '"orders": 7']);
  const health = await asked(["-max-time", "20"], ["grpc.health.v1.Health/Check"]);
  expect(JSON.parse(health.out)).toEqual({ status: "SERVING" });
});
