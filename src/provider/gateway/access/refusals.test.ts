import { randomUUID } from "node:crypto";
import { Agent } from "node:https";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { publish, testAccount, testCertificate } from "../../../../test/support/provider/identities.ts";
import { PROVIDER, STRANGER } from "../../../../test/support/provider/leases.ts";
import { signToken, type TokenClaims } from "../../../crypto/index.ts";

/** Each credential that must not open a lease, on a new connection, on one that is open, and on a stream that runs. */

const STATUS = "/lease/1/1/1/status";
const LOGS = "/lease/1/1/1/logs?follow=1";
/** Streams are looked at again this often here; 10 seconds for tenants. */
const RECHECK = 50;
let harness: GatewayHarness;

beforeEach(async () => {
  harness = await GatewayHarness.open({ recheck: RECHECK });
  await harness.run(1n, { job: "echo hello; sleep 1000" });
});
afterEach(() => harness.close());

async function bearer(change: Partial<TokenClaims> = {}, signer = harness.tenant) {
  const iat = Math.floor((Date.now() + harness.skew.ms) / 1000);
  const claims: TokenClaims = {
    ...{ version: "v1", iss: harness.tenant.address, aud: PROVIDER, iat, nbf: iat, exp: iat + 60, jti: randomUUID() },
    leases: { access: "full" },
    ...change,
  };
  return { authorization: `Bearer ${await signToken(claims, (bytes) => signer.sign(bytes))}` };
}

interface Credential {
  readonly cert?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a second request with this credential over the connection of the first. */
async function ask(agent: Agent, { headers = {}, ...tls }: Credential) {
  const { status, text, headers: answer } = await harness.request(STATUS, { ...tls, headers, agent });
  const { code = "", message = "" } = status === 200 ? {} : JSON.parse(text);
  return { status, code, message, challenge: answer["www-authenticate"] };
}

function connections(): Agent & { readonly opened: () => number } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<TLSSocket>();
  agent.on("free", (socket: TLSSocket) => sockets.add(socket));
  return Object.assign(agent, { opened: () => sockets.size });
}

function certified(): Credential {
  return { cert: harness.certificate.certificate, key: harness.certificate.privateKey };
}

interface Case {
  readonly name: string;
  /** The credential that opens the lease at first. */
  readonly good: () => Promise<Credential>;
  /** Makes it worthless, or returns another that never was worth anything. */
  readonly spoil: () => Promise<Credential | undefined>;
  readonly status: 401 | 403;
  readonly code: string;
  readonly says: RegExp;
}

const tokenOf = async (change: Partial<TokenClaims> = {}) => ({ headers: await bearer(change) });

const SPOILED: readonly Case[] = [
  {
    name: "a certificate that was revoked",
    good: async () => certified(),
    spoil: async () => void publish(harness.world.chain, harness.tenant.address, harness.certificate, "revoked"),
    status: 401,
    code: "certificate_refused",
    says: /it was revoked/,
  },
  {
    name: "a certificate that has expired",
    good: async () => certified(),
    spoil: async () => {
      harness.skew.ms = 3_700_000;
      return undefined;
    },
    status: 401,
    code: "certificate_refused",
    says: /it has expired/,
  },
  {
    name: "a token that has expired",
    good: () => tokenOf(),
    spoil: async () => {
      harness.skew.ms = 91_000;
      return undefined;
    },
    status: 401,
    code: "token_refused",
    says: /expired/,
  },
];

const NEVER_GOOD: readonly Case[] = [
  {
    name: "a token for another provider",
    good: () => tokenOf(),
    spoil: () => tokenOf({ aud: STRANGER }),
    status: 401,
    code: "token_refused",
    says: /another provider|audience/i,
  },
  {
    name: "a token that another account signed",
    good: () => tokenOf(),
    spoil: async () => ({ headers: await bearer({}, testAccount(harness.world.chain)) }),
    status: 401,
    code: "token_refused",
    says: /signature/i,
  },
  {
    name: "a token without the scope",
    good: () => tokenOf(),
    spoil: () => tokenOf({ leases: { access: "scoped", scope: ["logs"] } }),
    status: 403,
    code: "forbidden",
    says: /does not allow this/,
  },
  {
    name: "a token for another deployment",
    good: () => tokenOf(),
    spoil: () =>
      tokenOf({
        leases: {
          access: "granular",
          permissions: [{ provider: PROVIDER, access: "granular", deployments: [{ dseq: "2" }] }],
        },
      }),
    status: 403,
    code: "forbidden",
    says: /does not allow this/,
  },
];

describe.each([...SPOILED, ...NEVER_GOOD])("$name", ({ good, spoil, status, code, says }) => {
  it("opens nothing, on a new connection and on one over which the lease was read", async () => {
    const agent = connections();
    const credential = await good();
    expect((await ask(agent, credential)).status).toBe(200);
    const shown = (await spoil()) ?? credential;
    const refusal = { status, code, message: expect.stringMatching(says) };
    expect(await ask(agent, shown)).toMatchObject(refusal);
    expect(agent.opened()).toBe(1);
    expect(await ask(new Agent(), shown)).toMatchObject(refusal);
    agent.destroy();
  });
});

describe.each(SPOILED)("a stream with $name", ({ good, spoil, says }) => {
  it("ends with the reason when it is looked at again", async () => {
    const { headers = {}, ...tls } = await good();
    const socket = new WebSocket(`wss://127.0.0.1:${harness.port}${LOGS}`, {
      rejectUnauthorized: false,
      headers,
      ...tls,
    });
    await new Promise((resolve, reject) => {
      socket.once("message", resolve);
      socket.once("error", reject);
    });
    const ended = new Promise<readonly [number, string]>((resolve) =>
      socket.once("close", (code, reason) => resolve([code, reason.toString()])),
    );
    await spoil();
    const [code, reason] = await ended;
    expect([code, reason]).toEqual([1008, expect.stringMatching(says)]);
  });
});

it("a forged certificate, with the owner's name and number, is refused on every request of its connection", async () => {
  const { certificate: cert, privateKey: key } = await testCertificate({
    address: harness.tenant.address,
    serial: BigInt(harness.certificate.serial),
  });
  const agent = connections();
  for (let n = 0; n < 2; n++) {
    expect(await ask(agent, { cert, key })).toMatchObject({
      ...{ status: 401, code: "certificate_refused", challenge: "Bearer" },
      message: expect.stringMatching(/not the one that is published/),
    });
  }
  agent.destroy();
});

it("a session ticket is never given out, so that none can be stolen", async () => {
  const agent = connections();
  const sessions: Buffer[] = [];
  agent.on("free", (socket: TLSSocket) => {
    socket.on("session", (session: Buffer) => sessions.push(session));
    const session = socket.getSession();
    if (session !== undefined && !socket.isSessionReused()) sessions.push(session);
  });
  expect((await ask(agent, certified())).status).toBe(200);
  agent.destroy();
  const [session] = sessions;
  const stolen = await harness.request(STATUS, { ...(session === undefined ? {} : { session }), agent: false });
  expect(stolen.status).toBe(401);
});
