import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { closed } from "../../../test/support/closed.ts";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../test/support/provider/leases.ts";
import { signToken } from "../../crypto/index.ts";
import { PROTOCOL_PREFIX, STREAM_PROTOCOL } from "./access/bearer.ts";

const ORIGIN = "https://console.example";
const STATUS = "/lease/1/1/1/status";

let gateway: GatewayHarness;

beforeEach(async () => {
  gateway = await GatewayHarness.open();
  await gateway.run(1n, { job: "echo hello; sleep 1000" });
});

afterEach(() => gateway.close());

function token(): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const { tenant } = gateway;
  const times = { iat, nbf: iat, exp: iat + 900 };
  const claims = { version: "v1", iss: tenant.address, aud: PROVIDER, jti: randomUUID(), ...times } as const;
  return signToken({ ...claims, leases: { access: "full" } }, (bytes) => tenant.sign(bytes));
}

describe("a page of another origin", () => {
  it("may ask what it may send, on every path", async () => {
    for (const path of [STATUS, "/status", "/deployment/1/manifest", "/nothing"]) {
      const answer = await gateway.request(path, {
        method: "OPTIONS",
        headers: { origin: ORIGIN, "access-control-request-method": "PUT" },
      });
      expect([answer.status, answer.text]).toEqual([204, ""]);
      expect(answer.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, POST, PUT",
        "access-control-allow-headers": "authorization, content-type",
      });
      expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  it("reads answers and refusals with a token of its own", async () => {
    const bearer = { origin: ORIGIN, authorization: `Bearer ${await token()}` };
    const found = await gateway.request(STATUS, { headers: bearer });
    expect(found.status).toBe(200);
    const refused = await gateway.request(STATUS, { headers: { origin: ORIGIN } });
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([401, "unauthorized"]);
    for (const { headers } of [found, refused]) expect(headers["access-control-allow-origin"]).toBe("*");
    expect((await gateway.request(STATUS, { headers: {} })).headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("does nothing with the client certificate that a browser adds by itself", async () => {
    const { certificate, privateKey } = gateway.certificate;
    const known = { cert: certificate, key: privateKey };
    for (const [path, method] of [
      [STATUS, "GET"],
      ["/deployment/1/manifest", "PUT"],
    ] as const) {
      const answer = await gateway.request(path, { method, headers: { origin: ORIGIN }, ...known });
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([403, "origin_refused"]);
    }
    expect((await gateway.request(STATUS, known)).status).toBe(200);
  });
});

describe("a websocket of a page", () => {
  const LOGS = "/lease/1/1/1/logs?follow=false&tail=1";

  async function opened(protocols: string[], path = LOGS): Promise<{ status: number; protocol: string; said: string }> {
    const url = `wss://127.0.0.1:${gateway.port}${path}`;
    const socket = new WebSocket(url, protocols, { rejectUnauthorized: false, origin: ORIGIN });
    let said = "";
    socket.on("message", (data) => {
      said += String(data);
    });
    const refused = new Promise<number>((resolve) => {
      socket.on("unexpected-response", (request, response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
    });
    socket.on("error", () => {});
    const status = await Promise.race([closed(socket).then(() => 101), refused]);
    return { status, protocol: socket.protocol, said };
  }

  it("brings its token among the protocols, which the answer does not repeat", async () => {
    const outcome = await opened([STREAM_PROTOCOL, `${PROTOCOL_PREFIX}${await token()}`]);
    expect(outcome).toMatchObject({ status: 101, protocol: STREAM_PROTOCOL });
    expect(outcome.said).toContain("hello");
    expect((await opened([`${PROTOCOL_PREFIX}${await token()}`, STREAM_PROTOCOL])).protocol).toBe(STREAM_PROTOCOL);
  });

  it("is refused with no token, with two, without the protocol, and with an invalid one", async () => {
    const good = `${PROTOCOL_PREFIX}${await token()}`;
    expect((await opened([STREAM_PROTOCOL])).status).toBe(401);
    expect((await opened([STREAM_PROTOCOL, good, `${PROTOCOL_PREFIX}${await token()}`])).status).toBe(400);
    expect((await opened([good])).status).toBe(400);
    expect((await opened([STREAM_PROTOCOL, `${PROTOCOL_PREFIX}a!b`])).status).toBe(400);
    expect((await opened([STREAM_PROTOCOL, `${PROTOCOL_PREFIX}a.b.c`])).status).toBe(401);
  });
});
