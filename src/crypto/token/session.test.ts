import { makeSignDoc, serializeSignDoc } from "@cosmjs/amino";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { beforeAll, describe, expect, test } from "vitest";
import { toUtf8 } from "../../util/index.ts";
import { generatePrivateKey, publicKeyOf, signSecp256k1 } from "../secp256k1/secp256k1.ts";
import type { SessionClaims, TokenClaims } from "./claims.ts";
import {
  type OpenSession,
  openSession,
  readSessionClaims,
  SESSION_MAX_LIFETIME,
  type SessionSigner,
  sessionSigner,
  signSession,
  signToken,
  TOKEN_LEEWAY,
  type TokenExpectation,
  verifyToken,
} from "./index.ts";

const accountKey = generatePrivateKey();
const ACCOUNT = "svc1tenant";
const PROVIDER = "svc1provider";
const now = 1_800_000_000;
const expected: TokenExpectation = { publicKey: publicKeyOf(accountKey), issuer: ACCOUNT, audience: PROVIDER, now };
const claims: TokenClaims = {
  version: "v1",
  iss: ACCOUNT,
  aud: PROVIDER,
  iat: now,
  nbf: now,
  exp: now + 900,
  jti: "1",
  leases: { access: "full" },
};
const sign = (bytes: Uint8Array): Uint8Array => signSecp256k1(accountKey, bytes);
const consent = { algorithm: "ES256K", sign } as const;

/** The signature of a wallet: the library of the ecosystem makes the document. */
function signArbitrary(bytes: Uint8Array): Uint8Array {
  const value = { signer: ACCOUNT, data: Buffer.from(bytes).toString("base64") };
  const document = makeSignDoc([{ type: "sign/MsgSignData", value }], { gas: "0", amount: [] }, "", "", 0, 0);
  return sign(serializeSignDoc(document));
}

let open: OpenSession;
beforeAll(async () => {
  open = await openSession({ ...consent, account: ACCOUNT, now: now * 1000 });
});

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

/** A session whose claims an attacker chose, signed by the account, and tokens of its key. */
const secret = p256.utils.randomSecretKey();
const signRaw = async (bytes: Uint8Array) => p256.sign(bytes, secret, { lowS: false });
async function signerOf(change: Partial<SessionClaims> | object = {}, by = consent): Promise<SessionSigner> {
  const key = text(p256.getPublicKey(secret, false));
  const times = { iat: now, exp: now + 3600 };
  const whole = { version: "v1", iss: ACCOUNT, ...times, providers: "all", leases: { access: "full" }, key } as const;
  return { session: await signSession({ ...whole, ...change }, by), sign: signRaw };
}

/** Signed by hand, over any header and payload. */
async function forged(header: object, payload: object, by: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>) {
  const input = [header, payload].map((part) => text(toUtf8(JSON.stringify(part)))).join(".");
  return `${input}.${text(await by(toUtf8(input)))}`;
}

describe("a session", () => {
  test("signs tokens in the account's place", async () => {
    const token = await signToken(claims, sessionSigner(open));
    expect(await verifyToken(token, expected)).toEqual({ ...claims, session: open.session });
    expect(token.length).toBeLessThan(2_000);
  });

  test("is signed by a wallet as well", async () => {
    const wish = { account: ACCOUNT, algorithm: "ES256KADR36", sign: signArbitrary, now: now * 1000 } as const;
    const wallet = await openSession({ ...wish, providers: [PROVIDER], lifetime: 60 });
    expect(await verifyToken(await signToken(claims, sessionSigner(wallet)), expected)).toMatchObject(claims);
    expect(await readSessionClaims(wallet.session)).toMatchObject({ providers: [PROVIDER], exp: now + 60 });
  });

  test("has a key that cannot be read", async () => {
    await expect(crypto.subtle.exportKey("pkcs8", open.key)).rejects.toThrow("not extractable");
  });

  test("signs with either S, as WebCrypto does", async () => {
    const signer = await signerOf();
    const high = async (bytes: Uint8Array) => {
      const signature = p256.Signature.fromBytes(p256.sign(bytes, secret));
      return new p256.Signature(signature.r, p256.Point.Fn.ORDER - signature.s).toBytes();
    };
    for (const by of [signer.sign, high]) {
      expect(await verifyToken(await signToken(claims, { ...signer, sign: by }), expected)).toBeDefined();
    }
  });

  const wrongCurve = () => text(secp256k1.getPublicKey(secp256k1.utils.randomSecretKey(), false));
  const otherKey = generatePrivateKey();
  const highS = (bytes: Uint8Array) => {
    const signature = secp256k1.Signature.fromBytes(sign(bytes));
    return new secp256k1.Signature(signature.r, secp256k1.Point.Fn.ORDER - signature.s).toBytes();
  };

  test.each<[string, () => Promise<SessionSigner>, number]>([
    ["of another account", () => signerOf({ iss: "svc1other" }), 9],
    [
      "signed by another account's key",
      () => signerOf({}, { ...consent, sign: (b) => signSecp256k1(otherKey, b) }),
      12,
    ],
    ["signed with the higher S", () => signerOf({}, { ...consent, sign: highS }), 12],
    ["of 13 hours", () => signerOf({ exp: now + 13 * 3600 }), 14],
    ["of a second more than is allowed", () => signerOf({ exp: now + SESSION_MAX_LIFETIME + 1 }), 14],
    ["that has ended", () => signerOf({ iat: now - 100, exp: now - TOKEN_LEEWAY }), 13],
    ["that has not begun", () => signerOf({ iat: now + 31 }), 7],
    ["that ends before it begins", () => signerOf({ exp: now - 1 }), 11],
    ["for another provider", () => signerOf({ providers: ["svc1other"] }), 16],
    ["for no provider", () => signerOf({ providers: [] }), 11],
    ["with a key of another curve", () => signerOf({ key: wrongCurve() }), 4],
    ["with a compressed key", () => signerOf({ key: text(p256.getPublicKey(secret, true)) }), 11],
    [
      "with another key than the token's",
      () => signerOf({ key: text(p256.getPublicKey(p256.utils.randomSecretKey(), false)) }),
      4,
    ],
    ["with an unknown claim", () => signerOf({ admin: true }), 11],
    ["of 5 KB", () => signerOf({ providers: Array.from({ length: 16 }, () => "x".repeat(128)), leases: WIDE }), 1],
    ["that is a token", async () => ({ session: await signToken(claims, sign), sign: signRaw }), 1],
    ["that names no type", async () => ({ session: await forged({ alg: "ES256K" }, claims, sign), sign: signRaw }), 1],
    [
      "signed by a session's key",
      async () => {
        const { key } = await readSessionClaims((await signerOf()).session);
        const payload = {
          version: "v1",
          iss: ACCOUNT,
          iat: now,
          exp: now + 60,
          providers: "all",
          leases: claims.leases,
          key,
        };
        return { session: await forged({ alg: "ES256", typ: "svc-session" }, payload, signRaw), sign: signRaw };
      },
      12,
    ],
  ])("%s is refused", async (_, make, code) => {
    const token = await signToken(claims, await make());
    await expect(verifyToken(token, expected)).rejects.toMatchObject({ codespace: "jwt", code });
  });

  test.each<[string, (signer: SessionSigner) => Promise<string>, number]>([
    ["of more than 15 minutes", (signer) => signToken({ ...claims, exp: now + 901 }, signer), 15],
    ["without an identifier", (signer) => signToken({ ...claims, jti: undefined }, signer), 3],
    ["without an audience", (signer) => signToken({ ...claims, aud: undefined }, signer), 3],
    ["for another provider", (signer) => signToken({ ...claims, aud: "svc1other" }, signer), 5],
    ["that has expired", (signer) => signToken({ ...claims, iat: now - 99, nbf: now - 99, exp: now - 30 }, signer), 6],
    [
      "signed by the account, that names a session",
      ({ session }) => forged({ alg: "ES256K", typ: "JWT" }, { ...claims, session }, sign),
      3,
    ],
    [
      "signed by the account, with the algorithm of the session",
      ({ session }) => forged({ alg: "ES256", typ: "JWT" }, { ...claims, session }, sign),
      4,
    ],
    ["that is a session", async ({ session }) => session, 1],
    ["of 100 KB", (signer) => signToken(claims, { ...signer, session: "x".repeat(100_000) }), 1],
    [
      "with a changed payload",
      async (signer) => {
        const [header, , signature] = (await signToken(claims, signer)).split(".");
        const payload = { ...claims, jti: "2", session: signer.session };
        return `${header}.${text(toUtf8(JSON.stringify(payload)))}.${signature}`;
      },
      4,
    ],
  ])("makes no token %s", async (_, make, code) => {
    const token = await make(await signerOf());
    await expect(verifyToken(token, expected)).rejects.toMatchObject({ codespace: "jwt", code });
  });
});

const WIDE: TokenClaims["leases"] = {
  access: "granular",
  permissions: [
    {
      provider: PROVIDER,
      access: "granular",
      deployments: Array.from({ length: 64 }, (_, n) => ({ dseq: String(n + 1) })),
    },
  ],
};
