import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import { testAccount } from "../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../test/support/provider/leases.ts";
import { signToken, type TokenLeases, type TokenScope } from "../../crypto/index.ts";
import type { LeaseKey } from "../../wire/index.ts";

const HOST = "www.example.org";
let harness: GatewayHarness;
let first: LeaseKey;
let second: LeaseKey;

beforeAll(async () => {
  harness = await GatewayHarness.open({ burst: 1_000 }, { cluster: { leasedIps: ["203.0.113.1", "203.0.113.2"] } });
  first = await harness.run(1n, { hosts: [HOST, "other.example.org"], leasedIps: ["game"] });
  second = await harness.run(2n, { hosts: [HOST], leasedIps: ["game", "spare"] });
});
afterAll(() => harness.close());

async function tokenFor(leases: TokenLeases, account = harness.tenant): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const times = { iat, nbf: iat, exp: iat + 60 };
  const claims = { version: "v1" as const, iss: account.address, aud: PROVIDER, ...times, jti: randomUUID(), leases };
  return signToken(claims, (bytes) => account.sign(bytes));
}

const FULL: TokenLeases = { access: "full" };
const granular = (...dseqs: readonly string[]): TokenLeases => ({
  access: "granular",
  permissions: [
    {
      provider: PROVIDER,
      access: "granular",
      deployments: dseqs.map((dseq) => ({ dseq, scope: ["hostname-migrate"] })),
    },
  ],
});

async function post(path: string, body: unknown, leases: TokenLeases = FULL, account = harness.tenant) {
  const headers = { authorization: `Bearer ${await tokenFor(leases, account)}` };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const { status, text: answer } = await harness.request(path, { method: "POST", headers, body: text });
  const { code = "", transferred } = JSON.parse(answer) as { code?: string; transferred?: string[] };
  return [status, transferred ?? code];
}

const migrateTo = ({ dseq }: LeaseKey, hosts: readonly string[] = [HOST]) => ({
  hostnames_to_migrate: hosts,
  destination_dseq: Number(dseq),
  destination_gseq: 1,
});

describe("POST /hostname/migrate", () => {
  it("leads a host name to the other deployment and back", async () => {
    expect(await post("/hostname/migrate", migrateTo(second))).toEqual([200, [HOST]]);
    expect(harness.world.ingress.routes.find(HOST)?.lease.dseq).toBe(2n);
    expect(harness.world.service.find(first)?.withheld).toEqual([HOST]);
    expect(await post("/hostname/migrate", migrateTo(second)), "once more").toEqual([200, [HOST]]);
    const texts = { ...migrateTo(first, ["WWW.example.org."]), destination_dseq: "1", destination_gseq: "1" };
    expect(await post("/hostname/migrate", texts)).toEqual([200, [HOST]]);
    expect(harness.world.ingress.routes.find(HOST)?.lease.dseq).toBe(1n);
  });

  it("needs a token that allows it with the destination and with each deployment that loses a name", async () => {
    const refused = [403, "forbidden"];
    const logs: TokenLeases = { access: "scoped", scope: ["logs", "shell"] };
    expect(await post("/hostname/migrate", migrateTo(second), logs)).toEqual(refused);
    expect(await post("/hostname/migrate", migrateTo(second), granular("2"))).toEqual(refused);
    expect(await post("/hostname/migrate", migrateTo(second), granular("1"))).toEqual(refused);
    expect(harness.world.ingress.routes.find(HOST)?.lease.dseq).toBe(1n);
    expect(await post("/hostname/migrate", migrateTo(second), granular("1", "2"))).toEqual([200, [HOST]]);
    expect(
      await post("/hostname/migrate", migrateTo(first), { access: "scoped", scope: ["hostname-migrate"] }),
    ).toEqual([200, [HOST]]);
  });

  it("needs a credential, and reads no body without one", async () => {
    const { status } = await harness.request("/hostname/migrate", { method: "POST", body: "{" });
    expect(status).toBe(401);
  });

  it.each<[string, unknown, readonly unknown[]]>([
    [
      "a name that the destination does not ask for",
      migrateTo({ dseq: 2n } as LeaseKey, ["other.example.org"]),
      [400, "hostname_not_movable"],
    ],
    ["a deployment without a lease", migrateTo({ dseq: 9n } as LeaseKey), [404, "lease_not_found"]],
    ["number 0", migrateTo({ dseq: 0n } as LeaseKey), [404, "not_found"]],
    ["no names", migrateTo({ dseq: 2n } as LeaseKey, []), [422, "invalid_body"]],
    ["too many names", migrateTo({ dseq: 2n } as LeaseKey, Array(101).fill(HOST)), [422, "invalid_body"]],
    ["an unknown field", { ...migrateTo({ dseq: 2n } as LeaseKey), owner: "svc1other" }, [422, "invalid_body"]],
    ["another type", [], [422, "invalid_body"]],
    ["what is not JSON", "{", [422, "invalid_body"]],
    ["deep JSON", "[".repeat(100_000), [422, "invalid_body"]],
  ])("refuses %s", async (_, body, answer) => {
    expect(await post("/hostname/migrate", body)).toEqual(answer);
    expect(harness.world.ingress.routes.find(HOST)?.lease.dseq).toBe(1n);
  });

  it("moves nothing of another owner, and does not say whose it is", async () => {
    const thief = testAccount(harness.world.chain);
    expect(await post("/hostname/migrate", migrateTo(second), FULL, thief)).toEqual([404, "lease_not_found"]);
  });

  it("waits for a destination that answers", async () => {
    const { status } = harness.world.driver;
    harness.world.driver.status = async () => ({ health: "unknown", services: [] });
    expect(await post("/hostname/migrate", migrateTo(second))).toEqual([409, "service_not_ready"]);
    harness.world.driver.status = status;
    expect(harness.world.ingress.routes.find(HOST)?.lease.dseq).toBe(1n);
  });

  it("is one call of the client, with a certificate as with a token", async () => {
    expect(await harness.client(harness.credential("certificate")).migrateHosts(second, [HOST])).toEqual([HOST]);
    expect(await harness.client(harness.credential("token")).migrateHosts(first, [HOST])).toEqual([HOST]);
  });
});

describe("POST /endpoint/migrate", () => {
  const move = (dseq: number, ...endpoints: readonly string[]) => {
    return { endpoints_to_migrate: endpoints, destination_dseq: dseq, destination_gseq: 1 };
  };
  const holder = () => harness.world.driver.addresses.holdersOf(harness.tenant.address, "game")[0]?.dseq;

  it("gives an address to the other deployment and back, as often as it is asked", async () => {
    for (const dseq of [2, 2, 1, 1]) {
      expect(await post("/endpoint/migrate", move(dseq, "game"))).toEqual([200, ["game"]]);
      expect(holder()).toBe(BigInt(dseq));
    }
    const texts = { ...move(2, "game"), destination_dseq: "2", destination_gseq: "1" };
    expect(await post("/endpoint/migrate", texts)).toEqual([200, ["game"]]);
    expect(await harness.client(harness.credential("token")).migrateEndpoints(first, ["game"])).toEqual(["game"]);
  });

  it("needs its own scope, for the destination and for each deployment that loses an address", async () => {
    const scoped = (...scope: TokenScope[]): TokenLeases => ({ access: "scoped", scope });
    const granularIp = (...dseqs: readonly string[]): TokenLeases => ({
      access: "granular",
      permissions: [
        {
          provider: PROVIDER,
          access: "granular",
          deployments: dseqs.map((dseq) => ({ dseq, scope: ["ip-migrate"] })),
        },
      ],
    });
    const refused = [403, "forbidden"];
    expect(await post("/endpoint/migrate", move(2, "game"), scoped("hostname-migrate"))).toEqual(refused);
    expect(await post("/endpoint/migrate", move(2, "game"), granularIp("1"))).toEqual(refused);
    expect(await post("/endpoint/migrate", move(2, "game"), granularIp("2"))).toEqual(refused);
    expect(holder()).toBe(1n);
    expect(await post("/endpoint/migrate", move(2, "game"), granularIp("1", "2"))).toEqual([200, ["game"]]);
    expect(await post("/endpoint/migrate", move(1, "game"), scoped("ip-migrate"))).toEqual([200, ["game"]]);
  });

  it.each<[string, unknown, readonly unknown[]]>([
    ["a name that the destination does not ask for", move(2, "voice"), [400, "endpoint_not_movable"]],
    ["a name that no deployment has an address for", move(2, "spare"), [400, "endpoint_not_movable"]],
    ["an address in place of a name", move(2, "203.0.113.1"), [400, "endpoint_not_movable"]],
    ["one good and one bad name", move(2, "game", "voice"), [400, "endpoint_not_movable"]],
    ["a deployment without a lease", move(9, "game"), [404, "lease_not_found"]],
    ["no names", move(2), [422, "invalid_body"]],
    ["too many names", move(2, ...Array<string>(101).fill("game")), [422, "invalid_body"]],
    ["an owner", { ...move(2, "game"), owner: "svc1other" }, [422, "invalid_body"]],
    ["host names", migrateTo({ dseq: 2n } as LeaseKey), [422, "invalid_body"]],
  ])("refuses %s", async (_, body, answer) => {
    await harness.world.driver.addresses.retain(second, []);
    expect(await post("/endpoint/migrate", body)).toEqual(answer);
    expect(holder()).toBe(1n);
  });

  it("moves nothing of another owner, and does not say whose it is", async () => {
    const thief = testAccount(harness.world.chain);
    expect(await post("/endpoint/migrate", move(2, "game"), FULL, thief)).toEqual([404, "lease_not_found"]);
    expect(holder()).toBe(1n);
  });

  it("waits for a destination that answers", async () => {
    const { status } = harness.world.driver;
    harness.world.driver.status = async () => ({ health: "unknown", services: [] });
    expect(await post("/endpoint/migrate", move(2, "game"))).toEqual([409, "service_not_ready"]);
    harness.world.driver.status = status;
    expect(holder()).toBe(1n);
  });
});
