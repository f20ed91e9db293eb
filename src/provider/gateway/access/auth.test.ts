import { createHmac, randomUUID, sign as signWith } from "node:crypto";
import { readFileSync } from "node:fs";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { makeSignDoc, serializeSignDoc } from "@cosmjs/amino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import {
  publish,
  type TestAccount,
  type TestCertificate,
  testAccount,
  testCertificate,
} from "../../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { signToken, type TokenClaims } from "../../../crypto/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { MIGRATE_ROUTES, TENANT_ROUTES } from "../lease-routes.ts";

let harness: GatewayHarness;
let lease: LeaseKey;

beforeEach(async () => {
  harness = await GatewayHarness.open();
  lease = await harness.run(1n, { job: "echo hello; sleep 1000" });
});

afterEach(() => harness.close());

interface Outcome {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const STATUS = "/lease/1/1/1/status";

async function ask(options: Parameters<GatewayHarness["request"]>[1] = {}, path = STATUS): Promise<Outcome> {
  const { status, text } = await harness.request(path, options);
  const { code = "", message = "" } = status === 200 ? {} : JSON.parse(text);
  return { status, code, message };
}

function shown({ certificate, privateKey }: Pick<TestCertificate, "certificate" | "privateKey">) {
  return { cert: certificate, key: privateKey };
}

const seconds = () => Math.floor(Date.now() / 1000);

function claimsOf(account: TestAccount, change: Partial<TokenClaims> = {}): TokenClaims {
  const iat = seconds();
  return {
    version: "v1",
    iss: account.address,
    aud: PROVIDER,
    iat,
    nbf: iat,
    exp: iat + 900,
    jti: randomUUID(),
    leases: { access: "full" },
    ...change,
  };
}

async function bearer(change: Partial<TokenClaims> = {}, account = harness.tenant) {
  const token = await signToken(claimsOf(account, change), (bytes) => account.sign(bytes));
  return { headers: { authorization: `Bearer ${token}` } };
}

/** A token put together by hand. */
function forged(header: object, payload: object, sign: (input: string) => Uint8Array) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part(header)}.${part(payload)}`;
  return { headers: { authorization: `Bearer ${input}.${Buffer.from(sign(input)).toString("base64url")}` } };
}

describe("without credential", () => {
  it("every private route answers 401 and says how to authenticate", async () => {
    const migrations = MIGRATE_ROUTES.map(({ path }) => ({ method: "POST", path }));
    for (const { method, path } of [...TENANT_ROUTES, ...migrations]) {
      const url = path.replace(/:service/, "web").replaceAll(/:\w+/g, "1");
      const { status, headers } = await harness.request(url, { method });
      expect([method, url, status, headers["www-authenticate"]]).toEqual([method, url, 401, "Bearer"]);
    }
  });

  it("no route exists that is neither public nor in the table with a scope", () => {
    const source = readFileSync(new URL("../server.ts", import.meta.url), "utf8");
    const literal = [...source.matchAll(/app\.(?:get|post|put|delete|all|route)\("([^"]+)"/g)].map(([, path]) => path);
    const tabled = [...source.matchAll(/^ {2}\["(\/[^"]+)", \w+\],$/gm)].map(([, path]) => path);
    const routes = [...new Set([...literal, ...tabled])].sort();
    expect(routes).toEqual(["/address", "/screen", "/status", "/validate", "/version"]);
    expect([...TENANT_ROUTES, ...MIGRATE_ROUTES].every(({ scope }) => scope.length > 0)).toBe(true);
  });
});

describe("client certificates", () => {
  it("of the owner open the lease", async () => {
    expect((await ask(shown(harness.certificate))).status).toBe(200);
  });

  it("made by somebody else with the owner's name and serial number do not", async () => {
    const forgery = await testCertificate({
      address: harness.tenant.address,
      serial: BigInt(harness.certificate.serial),
    });
    expect(forgery.serial).toBe(harness.certificate.serial);
    expect(await ask(shown(forgery))).toMatchObject({ status: 401, message: expect.stringContaining("not the one") });
  });

  it("that are not on the chain do not", async () => {
    const unknown = await testCertificate({ address: harness.tenant.address });
    expect(await ask(shown(unknown))).toMatchObject({ status: 401, message: expect.stringContaining("not published") });
  });

  it("no longer do from the moment they are revoked", async () => {
    expect((await ask(shown(harness.certificate))).status).toBe(200);
    publish(harness.world.chain, harness.tenant.address, harness.certificate, "revoked");
    expect(await ask(shown(harness.certificate))).toMatchObject({
      status: 401,
      message: expect.stringContaining("revoked"),
    });
  });

  it("that have expired or are not valid yet do not", async () => {
    for (const [notBefore, notAfter, text] of [
      [-7_200_000, -3_600_000, "expired"],
      [3_600_000, 7_200_000, "not valid yet"],
    ] as const) {
      const now = Date.now();
      const wish = { address: harness.tenant.address, notBefore: now + notBefore, notAfter: now + notAfter };
      const certificate = await testCertificate(wish);
      publish(harness.world.chain, harness.tenant.address, certificate);
      expect(await ask(shown(certificate))).toMatchObject({ status: 401, message: expect.stringContaining(text) });
    }
  });

  it("of another account find nothing, as if the lease did not exist", async () => {
    const stranger = testAccount(harness.world.chain);
    const certificate = await testCertificate({ address: stranger.address });
    publish(harness.world.chain, stranger.address, certificate);
    const foreign = await harness.request(STATUS, shown(certificate));
    const missing = await harness.request("/lease/999/1/1/status", shown(certificate));
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(missing.text);
  });

  it("sent as a chain of two are refused", async () => {
    const other = await testCertificate({ address: harness.tenant.address });
    const { certificate, privateKey } = harness.certificate;
    const answer = await ask({ cert: certificate + other.certificate, key: privateKey });
    expect(answer).toMatchObject({ status: 401, message: expect.stringContaining("more than one") });
    const reversed = await ask({ cert: other.certificate + certificate, key: other.privateKey });
    expect(reversed.status).toBe(401);
  });

  it("do not live on in a resumed session", async () => {
    const open = (options: ConnectionOptions): Promise<{ socket: TLSSocket; session: Buffer | undefined }> =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: "127.0.0.1", port: harness.port, rejectUnauthorized: false, ...options });
        let session: Buffer | undefined;
        socket.on("session", (ticket) => {
          session = ticket;
        });
        socket.on("error", reject);
        socket.once("secureConnect", () => socket.write("GET /address HTTP/1.1\r\nHost: a\r\n\r\n"));
        socket.once("data", () => resolve({ socket, session: session ?? socket.getSession() }));
      });
    const first = await open(shown(harness.certificate));
    first.socket.destroy();
    const again = await open(first.session === undefined ? {} : { session: first.session });
    expect(again.socket.isSessionReused()).toBe(false);
    again.socket.write(`GET ${STATUS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const answer = await new Promise<string>((resolve) => again.socket.once("data", (data) => resolve(String(data))));
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    again.socket.destroy();
  });

  it("are not judged while the chain is away: 503, never 500 or 200", async () => {
    harness.world.chain.down = true;
    expect(await ask(shown(harness.certificate))).toMatchObject({ status: 503, code: "chain_unreachable" });
  });

  it("open nothing once the lease has ended", async () => {
    harness.world.chain.end(lease);
    expect(await ask(shown(harness.certificate))).toMatchObject({ status: 404, code: "lease_not_found" });
  });
});

describe("tokens", () => {
  it("of the owner open the lease", async () => {
    expect((await ask(await bearer())).status).toBe(200);
  });

  it("with another algorithm are refused", async () => {
    const claims = claimsOf(harness.tenant);
    const attempts = [
      forged({ alg: "none", typ: "JWT" }, claims, () => Buffer.from("x")),
      forged({ alg: "HS256", typ: "JWT" }, claims, (input) =>
        createHmac("sha256", harness.tenant.publicKey).update(input).digest(),
      ),
      forged({ alg: "ES256", typ: "JWT" }, claims, (input) =>
        signWith("sha256", Buffer.from(input), { key: harness.certificate.privateKey, dsaEncoding: "ieee-p1363" }),
      ),
      forged({ alg: "ES256K", typ: "JWT", jku: "https://evil.example" }, claims, (input) =>
        harness.tenant.sign(Buffer.from(input)),
      ),
    ];
    for (const attempt of attempts) expect(await ask(attempt)).toMatchObject({ status: 401, code: "token_refused" });
  });

  it("with a changed payload, or signed by another account, are refused", async () => {
    const stranger = testAccount(harness.world.chain);
    const claims = claimsOf(harness.tenant);
    const token = await signToken(claims, (bytes) => stranger.sign(bytes));
    expect(await ask({ headers: { authorization: `Bearer ${token}` } })).toMatchObject({ status: 401 });
    const [header, , signature] = (await signToken(claims, (bytes) => harness.tenant.sign(bytes))).split(".");
    const payload = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 60 })).toString("base64url");
    const changed = { headers: { authorization: `Bearer ${header}.${payload}.${signature}` } };
    expect(await ask(changed)).toMatchObject({ status: 401, message: expect.stringContaining("signature") });
  });

  it("of accounts the chain has no key of are refused", async () => {
    harness.world.chain.publicKeys.clear();
    expect(await ask(await bearer())).toMatchObject({ status: 401, message: expect.stringContaining("no key") });
  });

  it("for another provider, out of time or too long are refused", async () => {
    const now = seconds();
    const cases: readonly (readonly [Partial<TokenClaims>, RegExp])[] = [
      [{ aud: harness.tenant.address }, /another provider/],
      [{ iat: now - 1000, nbf: now - 1000, exp: now - 100 }, /expired/],
      [{ iat: now + 600, nbf: now + 600, exp: now + 900 }, /not valid yet/],
      [{ exp: now + 7200 }, /more than one hour/],
    ];
    for (const [change, text] of cases) {
      expect(await ask(await bearer(change))).toMatchObject({ status: 401, message: expect.stringMatching(text) });
    }
  });

  it("allow for a leeway of half a minute between clocks", async () => {
    const now = seconds();
    expect((await ask(await bearer({ iat: now + 20, nbf: now + 20 }))).status).toBe(200);
    expect((await ask(await bearer({ iat: now - 900, nbf: now - 900, exp: now - 10 }))).status).toBe(200);
  });

  it("lacking a claim, with unknown ones or of another version are refused", async () => {
    const { exp, ...withoutEnd } = claimsOf(harness.tenant);
    const sign = (input: string) => harness.tenant.sign(Buffer.from(input));
    const header = { alg: "ES256K", typ: "JWT" };
    for (const payload of [withoutEnd, { ...withoutEnd, exp, admin: true }, { ...withoutEnd, exp, version: "v2" }]) {
      expect(await ask(forged(header, payload, sign))).toMatchObject({ status: 401, code: "token_refused" });
    }
  });

  it("signed by a wallet open the lease", async () => {
    const input = [{ alg: "ES256KADR36", typ: "JWT" }, claimsOf(harness.tenant)]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const { address } = harness.tenant;
    const message = {
      type: "sign/MsgSignData",
      value: { signer: address, data: Buffer.from(input).toString("base64") },
    };
    const document = serializeSignDoc(makeSignDoc([message], { gas: "0", amount: [] }, "", "", 0, 0));
    const signature = Buffer.from(harness.tenant.sign(document)).toString("base64url");
    expect((await ask({ headers: { authorization: `Bearer ${input}.${signature}` } })).status).toBe(200);
  });

  it.each(["aud", "jti"])("without %s read, and change nothing", async (claim) => {
    const token = await bearer({ [claim]: undefined });
    for (const path of [STATUS, "/lease/1/1/1/manifest"]) expect((await ask(token, path)).status).toBe(200);
    const refused = { status: 403, message: expect.stringContaining("may only read") };
    expect(await ask({ ...token, method: "POST" }, "/lease/1/1/1/service/job/restart")).toMatchObject(refused);
    const put = { ...token, method: "PUT", body: "[]" };
    expect(await ask(put, "/deployment/1/manifest")).toMatchObject(refused);
    expect(await ask(await bearer({ [claim]: undefined, exp: seconds() + 1000 }))).toMatchObject({
      status: 401,
      message: expect.stringContaining("15 minutes"),
    });
  });

  it("do what their scopes say and nothing else", async () => {
    const only = (leases: TokenClaims["leases"], path?: string) => bearer({ leases }).then((token) => ask(token, path));
    const granted = (change: object) => ({
      access: "granular" as const,
      permissions: [{ provider: PROVIDER, access: "granular" as const, deployments: [{ dseq: "1", ...change }] }],
    });
    const service = "/lease/1/1/1/service/web/status";
    const ok: readonly (readonly [TokenClaims["leases"], string?])[] = [
      [{ access: "scoped", scope: ["status"] }],
      [granted({ scope: ["status"] })],
      [granted({ scope: ["status"], gseq: 1, oseq: 1 })],
      [granted({ services: ["web"] }), service],
      [{ access: "granular", permissions: [{ provider: PROVIDER, access: "full" }] }],
      [{ access: "granular", permissions: [{ provider: PROVIDER, access: "scoped", scope: ["status"] }] }],
    ];
    for (const [leases, path] of ok) expect((await only(leases, path)).status).toBe(200);
    const refused: readonly (readonly [TokenClaims["leases"], string?])[] = [
      [{ access: "scoped", scope: ["logs"] }],
      [granted({ scope: ["logs"] })],
      [granted({ gseq: 2 })],
      [granted({ gseq: 1, oseq: 2 })],
      [granted({ dseq: "2" })],
      // A token for one service says nothing of the whole lease, nor of another service.
      [granted({ services: ["web"] })],
      [granted({ services: ["job"] }), service],
      [{ access: "scoped", scope: ["status"] }, "/lease/1/1/1/manifest"],
      [{ access: "granular", permissions: [{ provider: harness.tenant.address, access: "full" }] }],
    ];
    for (const [leases, path] of refused)
      expect(await only(leases, path)).toMatchObject({ status: 403, code: "forbidden" });
  });

  it("of another account find nothing", async () => {
    const stranger = testAccount(harness.world.chain);
    expect(await ask(await bearer({}, stranger))).toMatchObject({ status: 404, code: "lease_not_found" });
  });

  it("in other forms than one header are refused", async () => {
    const { headers } = await bearer();
    const { authorization } = headers;
    expect(await ask({ headers: { authorization: authorization.replace("Bearer", "bearer") } })).toMatchObject({
      status: 200,
    });
    expect(await ask({ headers: { authorization: "Basic abc" } })).toMatchObject({ status: 400 });
    expect(await ask({ headers: { authorization: "Bearer" } })).toMatchObject({ status: 400 });
    expect(await ask({ headers: { authorization: `${authorization}, ${authorization}` } })).toMatchObject({
      status: 400,
    });
    expect(await ask({ headers: { authorization: "Bearer a.b.c" } })).toMatchObject({ status: 401 });
    const token = authorization.split(" ")[1] ?? "";
    expect(await ask({}, `${STATUS}?token=${token}`)).toMatchObject({ status: 400 });
    const huge = `Bearer ${"a".repeat(14_000)}.b.c`;
    expect((await ask({ headers: { authorization: huge } })).status).toBe(401);
  });
});

describe("both credentials", () => {
  it("at once are refused as ambiguous", async () => {
    const answer = await ask({ ...shown(harness.certificate), ...(await bearer()) });
    expect(answer).toMatchObject({ status: 400, code: "ambiguous_credentials" });
  });
});
