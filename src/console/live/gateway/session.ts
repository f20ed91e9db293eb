import * as v from "valibot";
import type { GatewayCredential } from "../../../client/index.ts";
import {
  type OpenSession,
  openSession,
  readSessionClaims,
  SESSION_MAX_LIFETIME,
  type SessionKey,
  sessionSigner,
  type TokenScope,
} from "../../../crypto/index.ts";
import { walletErrors } from "../../wallet/errors.ts";
import type { Wallet } from "../../wallet/wallet.ts";

/** Rights of a session, at all leases of the account: the acts of the pages at gateways. */
const SCOPE: TokenScope[] = ["send-manifest", "get-manifest", "logs", "shell", "events", "status", "restart"];
/** A session with less time left is opened anew, so that a page does not lose its streams to it soon. */
const RENEW_MS = 30 * 60_000;

interface Held {
  readonly credential: GatewayCredential;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Sessions by their wallets: one that is disconnected takes its session along. */
const sessions = new WeakMap<Wallet, Promise<Held>>();

/** Where sessions are kept for the next page of this browser. */
export interface SessionStore {
  readonly storedSession: (address: string) => Promise<unknown>;
  readonly storeSession: (session: OpenSession & { readonly address: string }) => Promise<void>;
}

interface Place {
  readonly now?: () => number;
  readonly store?: () => Promise<SessionStore>;
}

/**
 * The credential of an account at gateways: a key that cannot be exported, and the account's consent for it. Both stay in this browser
 * until the account is disconnected or the consent ends. The wallet is asked where there is none; never twice at a time. Rejects with
 * `walletErrors`, or `jwtErrors` where the browser makes no keys.
 */
export async function gatewayCredential(account: Wallet, place: Place = {}): Promise<GatewayCredential> {
  const { now = Date.now } = place;
  const known = sessions.get(account);
  if (known !== undefined) {
    const { credential, endsAt } = await known;
    if (now() < endsAt - RENEW_MS) return credential;
    if (sessions.get(account) !== known) return gatewayCredential(account, place);
  }
  const next = open(account, now(), place.store ?? (() => import("../../wallet/stored/sessions.ts")));
  sessions.set(account, next);
  try {
    return (await next).credential;
  } catch (error) {
    // The next act asks again.
    sessions.delete(account);
    throw error;
  }
}

async function open({ address, text }: Wallet, now: number, load: () => Promise<SessionStore>): Promise<Held> {
  if (text === undefined) throw walletErrors.readOnly();
  // Without a store the session lasts as long as the page.
  const store = await load().catch(() => undefined);
  const kept = await store?.storedSession(address).catch(() => undefined);
  const known = await readKept(kept, address, now).catch(() => undefined);
  if (known !== undefined) return known;
  const opened = await openSession({ ...text, account: address, leases: { access: "scoped", scope: SCOPE }, now });
  await store?.storeSession({ address, ...opened }).catch(() => undefined);
  return held(opened, address, now + SESSION_MAX_LIFETIME * 1000);
}

function held(session: OpenSession, account: string, endsAt: number): Held {
  return { credential: { kind: "token", account, sign: sessionSigner(session) }, endsAt };
}

const record = v.object({
  session: v.string(),
  key: v.custom<SessionKey>((value) => value instanceof CryptoKey && !value.extractable),
});

/** A kept session that is the account's, has the rights of the pages and time left; undefined otherwise. */
async function readKept(value: unknown, address: string, now: number): Promise<Held | undefined> {
  const read = v.safeParse(record, value);
  if (!read.success) return undefined;
  const { iss, iat, exp, leases, providers } = await readSessionClaims(read.output.session);
  const isWhole = leases.access === "scoped" && SCOPE.every((scope) => leases.scope.includes(scope));
  const endsAt = Math.min(exp * 1000, now + SESSION_MAX_LIFETIME * 1000);
  // A session from before the clock was set may begin later than gateways bear.
  const isInForce = iat * 1000 <= now && now < endsAt - RENEW_MS;
  if (iss !== address || providers !== "all" || !isWhole || !isInForce) return undefined;
  return held(read.output, address, endsAt);
}
