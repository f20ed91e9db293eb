import { describe, expect, it } from "vitest";
import { makeToken } from "../../../client/index.ts";
import { readTokenClaims, SESSION_MAX_LIFETIME, type SessionConsent, verifyToken } from "../../../crypto/index.ts";
import { testKey } from "../../../testing/index.ts";
import { SignMode } from "../../../wire/index.ts";
import { walletErrors } from "../../wallet/errors.ts";
import { addressWallet, type Wallet } from "../../wallet/wallet.ts";
import { gatewayCredential, type SessionStore } from "./session.ts";

const anna = testKey("anna");
const PROVIDER = "svc1provider";
const START = 1_800_000_000_000;
const HOUR = 3_600_000;

/** An account whose consents are counted. */
function account(answer: () => Promise<void> = async () => {}): { readonly wallet: Wallet; readonly asked: string[] } {
  const asked: string[] = [];
  const sign: SessionConsent["sign"] = async (bytes) => {
    asked.push(Buffer.from(bytes).toString().split(".")[1] ?? "");
    await answer();
    return anna.sign(bytes);
  };
  const only = addressWallet(anna.address, { chainId: "svc-test-1", signMode: SignMode.DIRECT });
  return { wallet: { ...only, kind: "local", lacks: {}, text: { algorithm: "ES256K", sign } }, asked };
}

const claimsOf = (input: string | undefined): unknown => JSON.parse(Buffer.from(input ?? "", "base64url").toString());

describe("a session of the pages at gateways", () => {
  it("is opened by one signature, also where several acts need it at once", async () => {
    const { wallet, asked } = account();
    const open = () => gatewayCredential(wallet, { now: () => START });
    const [first, second] = await Promise.all([open(), open()]);
    expect(second).toBe(first);
    expect(await open()).toBe(first);
    expect(asked.length).toBe(1);
  });

  it("gives the rights of the pages at the account's own leases, for twelve hours", async () => {
    const { wallet, asked } = account();
    await gatewayCredential(wallet, { now: () => START });
    const scope = ["send-manifest", "get-manifest", "logs", "shell", "events", "status", "restart"];
    expect(claimsOf(asked[0])).toMatchObject({
      iss: anna.address,
      exp: START / 1000 + SESSION_MAX_LIFETIME,
      providers: "all",
      leases: { access: "scoped", scope },
    });
  });

  it("signs tokens that a gateway accepts, also for streams", async () => {
    const credential = await gatewayCredential(account().wallet, { now: () => START });
    if (credential.kind !== "token" || anna.publicKey.type !== "secp256k1") throw new Error("it is no token");
    const token = await makeToken(credential, { provider: PROVIDER, scope: "logs", lifetime: 3600 }, START);
    const { iat, exp } = await readTokenClaims(token);
    expect(exp - iat).toBe(900);
    const expected = { publicKey: anna.publicKey.key, issuer: anna.address, audience: PROVIDER, now: START / 1000 };
    await expect(verifyToken(token, expected)).resolves.toMatchObject({ iss: anna.address });
  });

  it("is opened anew in its last half hour", async () => {
    const { wallet, asked } = account();
    for (const hours of [0, 11.4, 11.6, 12]) await gatewayCredential(wallet, { now: () => START + hours * HOUR });
    expect(asked.length).toBe(2);
  });

  it("that was refused is asked for by the next act", async () => {
    let isRefusing = true;
    const { wallet, asked } = account(async () => {
      if (isRefusing) throw walletErrors.refused();
    });
    await expect(gatewayCredential(wallet)).rejects.toThrow(walletErrors.refused().message);
    isRefusing = false;
    await expect(gatewayCredential(wallet)).resolves.toMatchObject({ account: anna.address });
    expect(asked.length).toBe(2);
  });

  it("needs a wallet that signs", async () => {
    const only = addressWallet(anna.address, { chainId: "svc-test-1", signMode: SignMode.DIRECT });
    await expect(gatewayCredential(only)).rejects.toThrow(walletErrors.readOnly().message);
  });
});

describe("a kept session", () => {
  /** The storage of a browser between pages. */
  function browser(change: (kept: object) => object = (kept) => kept) {
    const kept = new Map<string, object>();
    const store: SessionStore = {
      storedSession: async (address) => kept.get(address),
      storeSession: async (session) => void kept.set(session.address, change(session)),
    };
    /** Opens a page some hours later, and counts the questions to the account. */
    const open = async (hours: number): Promise<number> => {
      const { wallet, asked } = account();
      await gatewayCredential(wallet, { now: () => START + hours * HOUR, store: async () => store });
      return asked.length;
    };
    return { open, kept };
  }

  it("serves the next page without a question until its last half hour, with a key that no script can read", async () => {
    const { open, kept } = browser();
    expect([await open(0), await open(1), await open(11.4), await open(11.6)]).toEqual([1, 0, 0, 1]);
    const key: unknown = Reflect.get(kept.get(anna.address) ?? {}, "key");
    expect(key).toMatchObject({ extractable: false, type: "private" });
  });

  it.each([
    ["is no record", () => ({})],
    ["has no key", (kept: object) => ({ ...kept, key: "key" })],
    ["is another account's", (kept: object) => ({ ...kept, session: sessionOf({ iss: testKey("ben").address }) })],
    [
      "lacks rights",
      (kept: object) => ({ ...kept, session: sessionOf({ leases: { access: "scoped", scope: ["logs"] } }) }),
    ],
    ["begins later", (kept: object) => ({ ...kept, session: sessionOf({ iat: START / 1000 + 7200 }) })],
  ])("that %s is not used", async (_, change) => {
    const { open } = browser(change);
    expect([await open(0), await open(1)]).toEqual([1, 1]);
  });

  it("is missed by no browser that keeps nothing", async () => {
    const { wallet, asked } = account();
    const store = () => Promise.reject(new Error("no store"));
    await gatewayCredential(wallet, { now: () => START, store });
    expect(asked.length).toBe(1);
  });
});

/** A session of the account with a signature of no use. */
function sessionOf(change: object): string {
  const leases = {
    access: "scoped",
    scope: ["send-manifest", "get-manifest", "logs", "shell", "events", "status", "restart"],
  };
  const [iat, exp] = [START / 1000, START / 1000 + 12 * 3600];
  const claims = {
    version: "v1",
    iss: anna.address,
    iat,
    exp,
    providers: "all",
    leases,
    key: "A".repeat(87),
    ...change,
  };
  const parts = [{ alg: "ES256K", typ: "svc-session" }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  return `${parts.join(".")}.${"A".repeat(86)}`;
}
