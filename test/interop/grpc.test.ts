import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeAddress } from "../../src/wire/index.ts";
import { Fixture, freePorts, startNode, type TestNode } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The reference tool reads our chain over gRPC, from the built node, whose servers run in a thread of their own. */

const built = await buildPeer("simd53");
const peer = built instanceof Peer ? built : undefined;
const curl = await buildPeer("grpcurl");
const ALICE = encodeAddress(new Uint8Array(20).fill(1));
const fixture = new Fixture();
let node: TestNode | undefined;
let address = "";

test.skipIf(peer === undefined && process.env.CI !== "true")("the tool is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

test.skipIf(!(curl instanceof Peer) && process.env.CI !== "true")("the client by reflection is there", () => {
  expect(curl).toBeInstanceOf(Peer);
});

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  address = `127.0.0.1:${port}`;
  const accounts = [{ address: ALICE, coins: [{ denom: "utoken", amount: 5_000_000n }] }];
  node = await startNode(fixture, { accounts, flags: ["--grpc.address", address] });
});

afterAll(async () => {
  peer?.remove();
  if (curl instanceof Peer) curl.remove();
  await fixture.close();
});

test.skipIf(peer === undefined)("queries are answered, and refused with their codes", async () => {
  expect(node?.process.running).toBe(true);
  const query = (...words: string[]) =>
    peer?.run(["query", ...words, "--grpc-addr", address, "--grpc-insecure", "-o", "json"], { prefix: "svc" });
  const balances = await query("bank", "balances", ALICE);
  expect(JSON.parse(balances?.out ?? "")).toMatchObject({ balances: [{ denom: "utoken", amount: "5000000" }] });
  const account = await query("auth", "account", ALICE);
  expect(JSON.parse(account?.out ?? "")).toMatchObject({ account: { value: { address: ALICE } } });
  const nobody = await query("auth", "account", encodeAddress(new Uint8Array(20).fill(9)));
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining("code = NotFound") });
});

/** Output of a client that knows nothing of the chain. */
async function reflected(client: Peer, words: readonly string[], about: readonly string[] = []): Promise<string> {
  return client.ok(["-plaintext", "-max-time", "20", ...words, address, ...about]);
}

test.skipIf(!(curl instanceof Peer))(
  "a client that knows no descriptor finds services by reflection and calls them",
  async () => {
    if (!(curl instanceof Peer)) return;
    const services = (await reflected(curl, [], ["list"])).trim().split("\n");
    expect(services).toEqual(expect.arrayContaining(["grpc.health.v1.Health", "svc.market.v1beta1.Query"]));
    expect(services).toEqual(expect.arrayContaining(["sdk.bank.v1beta1.Query", "cosmos.bank.v1beta1.Query"]));
    for (const service of services) expect(await reflected(curl, [], ["describe", service])).toContain(service);
    const request = ["-d", JSON.stringify({ address: ALICE, denom: "utoken" })];
    const balance = await reflected(curl, request, ["cosmos.bank.v1beta1.Query/Balance"]);
    expect(JSON.parse(balance)).toEqual({ balance: { denom: "utoken", amount: "5000000" } });
    const health = await reflected(curl, [], ["grpc.health.v1.Health/Check"]);
    expect(JSON.parse(health)).toEqual({ status: "SERVING" });
    const unknown = await curl.run(["-plaintext", address, "svc.market.v1beta1.Query/Nothing"]);
    expect(unknown.code).not.toBe(0);
    expect(unknown).toMatchObject({ err: expect.stringContaining("Nothing") });
  },
);
