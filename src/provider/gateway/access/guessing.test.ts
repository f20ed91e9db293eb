import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FakeChain } from "../../../../test/support/provider/chain.ts";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { type TestAccount, testAccount, testCertificate } from "../../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { signToken } from "../../../crypto/index.ts";

/** Each invalid credential costs a signature check or a question to the node. */

const BURST = 20;
let harness: GatewayHarness;
let questions = 0;

beforeEach(async () => {
  harness = await GatewayHarness.open({ failures: BURST, failuresPerSecond: 0.01, burst: 10_000 });
  await harness.run(1n);
  questions = 0;
  const { chain } = harness.world;
  const { publicKey, certificate } = chain;
  chain.publicKey = (address) => {
    questions += 1;
    return publicKey.call(chain, address);
  };
  chain.certificate = (owner, serial) => {
    questions += 1;
    return certificate.call(chain, owner, serial);
  };
});
afterEach(() => harness.close());

async function token(account: TestAccount, signer = account): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    ...{ version: "v1" as const, iss: account.address, aud: PROVIDER, iat, nbf: iat, exp: iat + 60, jti: randomUUID() },
    leases: { access: "full" as const },
  };
  return signToken(claims, (bytes) => signer.sign(bytes));
}

async function ask(bearer: string, localAddress = "127.0.0.1"): Promise<number> {
  const headers = { authorization: `Bearer ${bearer}` };
  return (await harness.request("/lease/1/1/1/status", { headers, localAddress })).status;
}

it("tokens of accounts that nobody has heard of ask the node a few times, and then not at all", async () => {
  const strangers = Array.from({ length: 2 * BURST }, () => testAccount(new FakeChain()));
  const statuses = await Promise.all(strangers.map(async (each) => ask(await token(each))));
  expect(statuses.filter((status) => status === 401)).toHaveLength(BURST);
  expect(statuses.filter((status) => status === 429)).toHaveLength(BURST);
  expect(questions).toBe(BURST);
  // Other networks do not wait for it.
  expect(await ask(await token(harness.tenant), "127.0.0.2")).toBe(200);
});

it("tokens with another's signature are checked a few times, and then not at all", async () => {
  const forger = testAccount(new FakeChain());
  const forged = await token(harness.tenant, forger);
  for (let n = 0; n < BURST; n++) expect(await ask(forged)).toBe(401);
  expect(await ask(forged)).toBe(429);
});

it("certificates that are not on the chain ask the node a few times, and then not at all", async () => {
  const { certificate: cert, privateKey: key } = await testCertificate({ address: harness.tenant.address });
  const statuses: number[] = [];
  for (let n = 0; n <= BURST; n++) statuses.push((await harness.request("/lease/1/1/1/status", { cert, key })).status);
  expect(statuses).toEqual([...Array(BURST).fill(401), 429]);
  expect(questions).toBe(BURST);
});

it("requests that are good, or come without credential, do not count", async () => {
  const good = await token(harness.tenant);
  for (let n = 0; n <= BURST; n++) expect(await ask(good)).toBe(200);
  for (let n = 0; n <= BURST; n++) expect((await harness.request("/lease/1/1/1/status")).status).toBe(401);
  expect(await ask(good)).toBe(200);
});

it("a node that is away makes nobody a forger", async () => {
  harness.world.chain.down = true;
  const good = await token(harness.tenant);
  for (let n = 0; n <= BURST; n++) expect(await ask(good)).toBe(503);
  harness.world.chain.down = false;
  expect(await ask(good)).toBe(200);
});
