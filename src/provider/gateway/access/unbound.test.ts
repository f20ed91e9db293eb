import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { makeSignDoc, serializeSignDoc } from "@cosmjs/amino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { MIGRATE_ROUTES, STREAM_ROUTES, TENANT_ROUTES } from "../lease-routes.ts";
import { PROTOCOL_PREFIX, STREAM_PROTOCOL } from "./bearer.ts";

/** Tokens without `aud` or `jti`, as tools of the ecosystem send them, tried at everything that is not reading. */

const LIFETIME = 900;
const LEEWAY = 30;
const READS = ["status", "logs", "events", "get-manifest"];

let harness: GatewayHarness;

beforeEach(async () => {
  harness = await GatewayHarness.open({ recheck: 20 });
  await harness.run(1n, { job: "echo hello; sleep 1000" });
});
afterEach(() => harness.close());

/** A token without these claims, by the account's key or its wallet. */
function unbound(missing: readonly string[], { algorithm = "ES256K", change = {} } = {}): string {
  const { tenant } = harness;
  const iat = Math.floor((Date.now() + harness.skew.ms) / 1000);
  const times = { iat, nbf: iat, exp: iat + LIFETIME };
  const whole = { version: "v1", iss: tenant.address, aud: PROVIDER, jti: randomUUID(), ...times };
  const claims = Object.entries({ ...whole, leases: { access: "full" }, ...change });
  const payload = Object.fromEntries(claims.filter(([name]) => !missing.includes(name)));
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part({ alg: algorithm, typ: "JWT" })}.${part(payload)}`;
  const value = { signer: tenant.address, data: Buffer.from(input).toString("base64") };
  const wrapped = makeSignDoc([{ type: "sign/MsgSignData", value }], { gas: "0", amount: [] }, "", "", 0, 0);
  const bytes = algorithm === "ES256K" ? Buffer.from(input) : serializeSignDoc(wrapped);
  return `${input}.${Buffer.from(tenant.sign(bytes)).toString("base64url")}`;
}

async function ask(token: string, path: string, method: string) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await harness.request(path, { method, headers, ...(method === "GET" ? {} : { body: "{}" }) });
  return [answer.status, answer.text] as const;
}

function open(token: string, path: string): WebSocket {
  const protocols = [STREAM_PROTOCOL, PROTOCOL_PREFIX + token];
  return new WebSocket(`wss://127.0.0.1:${harness.port}${path}`, protocols, { rejectUnauthorized: false });
}

/** The status of a refusal, or 101. */
function upgraded(token: string, path: string): Promise<number> {
  const socket = open(token, path);
  return new Promise((resolve, reject) => {
    socket.on("error", reject).once("open", () => resolve(101));
    socket.once("unexpected-response", (_, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
  }).finally(() => socket.on("error", () => {}).terminate()) as Promise<number>;
}

describe.each([
  ["aud", ["aud"], "ES256K"],
  ["jti", ["jti"], "ES256K"],
  ["aud and jti, of a wallet,", ["aud", "jti"], "ES256KADR36"],
])("a token without %s", (_, missing, algorithm) => {
  it("is refused by every route that changes something", async () => {
    const migrations = MIGRATE_ROUTES.map((route) => ({ ...route, method: "POST" as const }));
    const changing = [...TENANT_ROUTES, ...migrations].filter(({ scope }) => !READS.includes(scope));
    expect(changing.length).toBeGreaterThan(4);
    for (const { path, method } of changing) {
      const url = path.replace(":service", "job").replaceAll(/:\w+/g, "1");
      expect([url, await ask(unbound(missing, { algorithm }), url, method)]).toEqual([
        url,
        [403, expect.stringContaining("may only read")],
      ]);
    }
  });

  it("opens no shell, and streams that only read", async () => {
    const queries: Readonly<Record<string, string>> = {
      shell: "?service=job&podIndex=0&tty=false&stdin=false&cmd0=true",
    };
    for (const [kind, { scope }] of Object.entries(STREAM_ROUTES)) {
      const path = `/lease/1/1/1/${kind}${queries[kind] ?? ""}`;
      expect([kind, await upgraded(unbound(missing, { algorithm }), path)]).toEqual([
        kind,
        READS.includes(scope) ? 101 : 403,
      ]);
    }
  });

  it("keeps no stream open after its 15 minutes", async () => {
    const socket = open(unbound(missing, { algorithm }), "/lease/1/1/1/logs?follow=true");
    await once(socket, "message");
    const ended = once(socket, "close");
    harness.skew.ms = (LIFETIME + LEEWAY + 1) * 1000;
    const [code, reason] = await ended;
    expect([code, String(reason)]).toEqual([1008, expect.stringContaining("expired")]);
  });

  it("is no longer for being begun early", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const change of [{ iat: now - 60 }, { nbf: now - 60 }, { iat: now + 20, exp: now + LIFETIME + 21 }]) {
      const [status, text] = await ask(unbound(missing, { algorithm, change }), "/lease/1/1/1/status", "GET");
      expect([change, status, text]).toEqual([change, 401, expect.stringContaining("15 minutes")]);
    }
  });
});

it("a route that changes something has no scope of a read", () => {
  const reading = TENANT_ROUTES.filter(({ scope }) => READS.includes(scope));
  expect(reading.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(MIGRATE_ROUTES.filter(({ scope }) => READS.includes(scope))).toEqual([]);
});
