import { makeSignDoc, serializeSignDoc } from "@cosmjs/amino";
import { describe, expect, test } from "vitest";
import { toUtf8 } from "../../util/index.ts";
import { generatePrivateKey, publicKeyOf, signSecp256k1 } from "../secp256k1/secp256k1.ts";
import type { TokenClaims } from "./claims.ts";
import { readTokenClaims, signToken, type TokenExpectation, verifyToken } from "./jwt.ts";

const key = generatePrivateKey();
const now = 1_800_000_000;
const PROVIDER = "svc1provider";
const claims: TokenClaims = {
  version: "v1",
  iss: "svc1tenant",
  aud: PROVIDER,
  iat: now,
  nbf: now,
  exp: now + 900,
  jti: "1",
  leases: { access: "full" },
};
const expected: TokenExpectation = { publicKey: publicKeyOf(key), issuer: claims.iss, audience: PROVIDER, now };
const sign = (bytes: Uint8Array): Uint8Array => signSecp256k1(key, bytes);

/** A signed token of arbitrary texts, as an attacker who owns an account could make it. */
function forge(header: string, payload: string): string {
  const input = [header, payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
  return `${input}.${Buffer.from(sign(toUtf8(input))).toString("base64url")}`;
}

const HEADER = '{"alg":"ES256K","typ":"JWT"}';
const WALLET_HEADER = '{"alg":"ES256KADR36","typ":"JWT"}';

/** A token as wallets sign it: the library of the ecosystem makes the document. */
function walletToken(header: string, payload: object, signer: string = claims.iss): string {
  const input = [header, JSON.stringify(payload)].map((part) => Buffer.from(part).toString("base64url")).join(".");
  const value = { signer, data: Buffer.from(input).toString("base64") };
  const fee = { gas: "0", amount: [] };
  const document = makeSignDoc([{ type: "sign/MsgSignData", value }], fee, "", "", 0, 0);
  return `${input}.${Buffer.from(sign(serializeSignDoc(document))).toString("base64url")}`;
}

const forgeClaims = (change: object): string => forge(HEADER, JSON.stringify({ ...claims, ...change }));

/** Permissions for this many providers, or this many times for one of that name. */
function granular(count: number, name?: string, more = {}) {
  const permissions = Array.from({ length: count }, (_, n) => ({ provider: name ?? `p${n}`, access: "full", ...more }));
  return { access: "granular", permissions };
}

describe("tokens", () => {
  test("a genuine token gives its claims", async () => {
    const token = await signToken(claims, sign);
    expect(await verifyToken(token, expected)).toEqual(claims);
    expect(await readTokenClaims(token)).toEqual(claims);
  });

  test("a wallet's token gives its claims, with an audience and an identifier or without", async () => {
    expect(await verifyToken(walletToken(WALLET_HEADER, claims), expected)).toEqual(claims);
    const { aud: _, jti, ...unbound } = claims;
    expect(await verifyToken(walletToken(WALLET_HEADER, unbound), expected)).toEqual(unbound);
    expect(await verifyToken(walletToken(WALLET_HEADER, { ...unbound, jti }), expected)).toEqual({ ...unbound, jti });
  });

  test("leases of every form, with sequence numbers as text", async () => {
    const deployments = [{ scope: ["logs"], dseq: 7, gseq: 1, oseq: 1, services: ["web"] }];
    const leases = { access: "granular", permissions: [{ provider: "svc1provider", access: "granular", deployments }] };
    const read = await verifyToken(forgeClaims({ leases }), expected);
    expect(read.leases).toEqual({
      access: "granular",
      permissions: [{ provider: "svc1provider", access: "granular", deployments: [{ ...deployments[0], dseq: "7" }] }],
    });
    expect(await verifyToken(forgeClaims({ leases: { access: "scoped", scope: ["shell"] } }), expected)).toBeDefined();
  });

  test.each([
    ["algorithm none", () => forge('{"alg":"none"}', JSON.stringify(claims)), 2],
    ["algorithm HS256", () => forge('{"alg":"HS256"}', JSON.stringify(claims)), 2],
    ["a key reference in the header", () => forge('{"alg":"ES256K","kid":"x"}', JSON.stringify(claims)), 1],
    ["a claim twice", () => forge(HEADER, JSON.stringify(claims).replace("{", '{"exp":1,')), 1],
    ["a claim twice by escape", () => forge(HEADER, JSON.stringify(claims).replace("{", '{"e\\u0078p":1,')), 1],
    ["two parts", () => "a.b", 1],
    ["no JSON", () => forge(HEADER, "claims"), 1],
    ["1 MB", () => "x".repeat(1_000_000), 1],
    ["an unknown claim", () => forgeClaims({ admin: true }), 3],
    ["a missing expiry", () => forgeClaims({ exp: undefined }), 3],
    ["an empty identifier", () => forgeClaims({ jti: "" }), 3],
    ["no identifier, and more than 15 minutes", () => forgeClaims({ jti: undefined, exp: now + 901 }), 10],
    ["no audience, and more than 15 minutes", () => forgeClaims({ aud: undefined, exp: now + 901 }), 10],
    ["the algorithm of wallets, over plain bytes", () => forge(WALLET_HEADER, JSON.stringify(claims)), 4],
    ["the plain algorithm, over a wallet's document", () => walletToken(HEADER, claims), 4],
    ["a wallet's document of another signer", () => walletToken(WALLET_HEADER, claims, "svc1other"), 4],
    ["another version", () => forgeClaims({ version: "v2" }), 3],
    ["an expiry that is not an integer", () => forgeClaims({ exp: 1e300 }), 3],
    ["a scoped access without scope", () => forgeClaims({ leases: { access: "scoped" } }), 3],
    ["expiry before begin", () => forgeClaims({ exp: now - 1 }), 3],
    ["a provider with two permissions", () => forgeClaims({ leases: granular(2, "svc1provider") }), 3],
    ["thousands of permissions", () => forgeClaims({ leases: granular(200) }), 3],
    ["full access to a provider and a list", () => forgeClaims({ leases: granular(1, "p", { scope: ["logs"] }) }), 3],
    ["full access with a scope beside it", () => forgeClaims({ leases: { access: "full", scope: ["logs"] } }), 3],
    ["an expiry beyond safe integers", () => forgeClaims({ exp: 2 ** 53 }), 3],
    ["the algorithm of another curve", () => forge('{"alg":"ES384"}', JSON.stringify(claims)), 2],
    ["the algorithm of a session's key, without a session", () => forge('{"alg":"ES256"}', JSON.stringify(claims)), 3],
    ["another audience", () => forgeClaims({ aud: "svc1other" }), 5],
    ["two hours of life", () => forgeClaims({ exp: now + 7200 }), 8],
    ["two hours of life by an early begin", () => forgeClaims({ iat: now - 7000, nbf: now - 7000 }), 8],
    ["the past", () => forgeClaims({ iat: now - 100, nbf: now - 100, exp: now - 30 }), 6],
    ["the future", () => forgeClaims({ nbf: now + 31 }), 7],
    ["another issuer", () => forgeClaims({ iss: "svc1other" }), 9],
  ])("%s is refused", async (_, make, code) => {
    await expect(verifyToken(make(), expected)).rejects.toMatchObject({ codespace: "jwt", code });
  });

  test("30 seconds of clock difference are forgiven", async () => {
    expect(await verifyToken(forgeClaims({ iat: now + 30, nbf: now + 30 }), expected)).toBeDefined();
    expect(await verifyToken(forgeClaims({ iat: now - 99, nbf: now - 99, exp: now - 29 }), expected)).toBeDefined();
  });

  test("a changed payload, another key and a second encoding of the signature are refused", async () => {
    const token = await signToken(claims, sign);
    const [header = "", payload = "", signature = ""] = token.split(".");
    const changed = Buffer.from(JSON.stringify({ ...claims, jti: "2" })).toString("base64url");
    await expect(verifyToken(`${header}.${changed}.${signature}`, expected)).rejects.toMatchObject({ code: 4 });
    const other = { ...expected, publicKey: publicKeyOf(generatePrivateKey()) };
    await expect(verifyToken(token, other)).rejects.toMatchObject({ code: 4 });
    const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".indexOf(signature.at(-1) ?? "");
    const twin = signature.slice(0, -1) + "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A"[last];
    await expect(verifyToken(`${header}.${payload}.${twin}`, expected)).rejects.toMatchObject({ code: 1 });
  });

  test("refusals do not show the token", async () => {
    const token = forgeClaims({ aud: "svc1other" });
    await expect(verifyToken(token, expected)).rejects.toThrow(/^token is for another provider$/);
  });
});
