import type { GatewayCredential } from "../../../client/index.ts";
import { openSession, SESSION_MAX_LIFETIME, sessionSigner, type TokenScope } from "../../../crypto/index.ts";
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

/** Sessions by their wallets: one that is disconnected takes its session along, as the end of the page does. */
const sessions = new WeakMap<Wallet, Promise<Held>>();

/**
 * The credential of an account at gateways: a key of this page that cannot be exported, and the account's consent for it. The wallet is
 * asked at first, and again before the consent ends; never twice at a time. Rejects with `walletErrors`, or `jwtErrors` where the browser makes no keys.
 */
export async function gatewayCredential(account: Wallet, now: () => number = Date.now): Promise<GatewayCredential> {
  const known = sessions.get(account);
  if (known !== undefined) {
    const { credential, endsAt } = await known;
    if (now() < endsAt - RENEW_MS) return credential;
    if (sessions.get(account) !== known) return gatewayCredential(account, now);
  }
  const next = open(account, now());
  sessions.set(account, next);
  try {
    return (await next).credential;
  } catch (error) {
    // The next act asks again.
    sessions.delete(account);
    throw error;
  }
}

async function open({ address, text }: Wallet, now: number): Promise<Held> {
  if (text === undefined) throw walletErrors.readOnly();
  const opened = await openSession({ ...text, account: address, leases: { access: "scoped", scope: SCOPE }, now });
  const credential = { kind: "token", account: address, sign: sessionSigner(opened) } as const;
  return { credential, endsAt: now + SESSION_MAX_LIFETIME * 1000 };
}
