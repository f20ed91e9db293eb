import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { testAccount } from "../../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { pause } from "../../../../test/support/wait.ts";
import {
  type OpenSession,
  openSession,
  type SessionWish,
  sessionSigner,
  signToken,
  type TokenClaims,
} from "../../../crypto/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { PROTOCOL_PREFIX, STREAM_PROTOCOL } from "./bearer.ts";

const STATUS = "/lease/1/1/1/status";
const RESTART = "/lease/1/1/1/service/job/restart";
const SHELL = "/lease/1/1/1/shell?service=job&podIndex=0&tty=false&stdin=false&cmd0=true";
const HOUR_MS = 3_600_000;

let harness: GatewayHarness;
let lease: LeaseKey;

beforeEach(async () => {
  harness = await GatewayHarness.open({ recheck: 20 });
  lease = await harness.run(1n, { job: "echo hello; sleep 1000" });
});
afterEach(() => harness.close());

const clock = () => Date.now() + harness.skew.ms;

function session(change: Partial<SessionWish> = {}): Promise<OpenSession> {
  const { address, sign } = harness.tenant;
  return openSession({ account: address, algorithm: "ES256K", sign, now: clock(), ...change });
}

function token(open: OpenSession, change: Partial<TokenClaims> = {}): Promise<string> {
  const iat = Math.floor(clock() / 1000);
  const times = { iat, nbf: iat, exp: iat + 900 };
  const claims = { version: "v1", iss: harness.tenant.address, aud: PROVIDER, jti: randomUUID(), ...times } as const;
  return signToken({ ...claims, leases: { access: "full" }, ...change }, sessionSigner(open));
}

async function ask(text: string, path = STATUS, method = "GET") {
  const answer = await harness.request(path, { method, headers: { authorization: `Bearer ${text}` } });
  return { status: answer.status, text: answer.text };
}

/** The status before a websocket, or the code of its end. */
async function stream(text: string, path: string): Promise<number> {
  const protocols = [STREAM_PROTOCOL, PROTOCOL_PREFIX + text];
  const socket = new WebSocket(`wss://127.0.0.1:${harness.port}${path}`, protocols, { rejectUnauthorized: false });
  return new Promise((resolve, reject) => {
    socket.once("unexpected-response", (_, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    socket.on("error", reject).once("close", resolve);
  });
}

describe("tokens of a session", () => {
  it("do what the account may, many on one signature", async () => {
    let signatures = 0;
    const sign = (bytes: Uint8Array) => {
      signatures += 1;
      return harness.tenant.sign(bytes);
    };
    const open = await session({ sign });
    expect((await ask(await token(open))).status).toBe(200);
    expect((await ask(await token(open), RESTART, "POST")).status).toBe(200);
    expect(await stream(await token(open), SHELL)).toBe(1000);
    const client = harness.client({ kind: "token", account: harness.tenant.address, sign: sessionSigner(open) });
    expect(Object.keys((await client.leaseStatus(lease)).services)).toContain("job");
    expect(signatures).toBe(1);
  });

  it("do no more than the session, whatever they say themselves", async () => {
    const logs = await session({ leases: { access: "scoped", scope: ["status", "logs"] } });
    expect((await ask(await token(logs))).status).toBe(200);
    expect(await ask(await token(logs), RESTART, "POST")).toMatchObject({ status: 403 });
    expect(await stream(await token(logs), SHELL)).toBe(403);
    const body = await harness.request("/hostname/migrate", {
      method: "POST",
      headers: { authorization: `Bearer ${await token(logs)}` },
    });
    expect(body.status).toBe(403);
    const permissions = [{ provider: PROVIDER, access: "granular" as const, deployments: [{ dseq: "2" }] }];
    const other = await session({ leases: { access: "granular", permissions } });
    expect((await ask(await token(other))).status).toBe(403);
    // And no more than themselves.
    const narrow = await token(await session(), { leases: { access: "scoped", scope: ["logs"] } });
    expect((await ask(narrow)).status).toBe(403);
  });

  it("open one shell each", async () => {
    const once = await token(await session());
    expect(await stream(once, SHELL)).toBe(1000);
    expect(await stream(once, SHELL)).toBe(401);
  });

  it("are refused after the session's end, however fresh they are, and end their streams", async () => {
    const open = await session({ lifetime: 60 });
    const socket = new WebSocket(
      `wss://127.0.0.1:${harness.port}/lease/1/1/1/logs?follow=true`,
      [STREAM_PROTOCOL, PROTOCOL_PREFIX + (await token(open))],
      { rejectUnauthorized: false },
    );
    await once(socket, "message");
    const ended = once(socket, "close");
    harness.skew.ms = 91_000;
    await ended;
    const late = await ask(await token(open));
    expect([late.status, late.text]).toEqual([401, expect.stringContaining("session has expired")]);
  });

  it("let a stream go on after their own end, until that of the session", async () => {
    const once_ = await token(await session({ lifetime: 3_600 }));
    const socket = new WebSocket(
      `wss://127.0.0.1:${harness.port}/lease/1/1/1/logs?follow=true`,
      [STREAM_PROTOCOL, PROTOCOL_PREFIX + once_],
      { rejectUnauthorized: false },
    );
    await once(socket, "message");
    harness.skew.ms = 1_800_000;
    const late = await ask(once_);
    // Ten times the time between two checks of an open stream.
    await pause(200);
    expect([late.status, late.text]).toEqual([401, expect.stringContaining("token has expired")]);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    harness.skew.ms = 3_700_000;
    expect(await once(socket, "close")).toEqual([1008, expect.anything()]);
  });

  it.each<[string, Partial<SessionWish>, RegExp]>([
    ["13 hours", { lifetime: 13 * 3600 }, /more than 12 hours/],
    ["other providers", { providers: ["svc1other"] }, /not for this provider/],
    ["a time to come", { now: Date.now() + HOUR_MS }, /not valid yet/],
  ])("are refused if the session is for %s", async (_, change, text) => {
    const answer = await ask(await token(await session(change)));
    expect([answer.status, answer.text]).toEqual([401, expect.stringMatching(text)]);
  });

  it("of another account open nothing of this one", async () => {
    const stranger = testAccount(harness.world.chain);
    const own = await session({ account: stranger.address, sign: stranger.sign });
    expect((await ask(await token(own))).text).toContain("issued by another account");
    expect((await ask(await token(own, { iss: stranger.address }))).status).toBe(404);
    const posing = await session({ sign: stranger.sign });
    expect((await ask(await token(posing))).text).toContain("session signature");
  });
});
