import { createHash, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { type Authorization, axios, Client, crypto } from "acme-client";
import { createFile, errorText, makePrivateDirectory, readFileText, unlessAborted } from "../../util/index.ts";
import type { Challenges } from "../ingress/index.ts";
import { AuthorityBusy, type HostCertificateText, type Issuer } from "./issuer.ts";
import type { AcmeSettings } from "./settings.ts";

export interface AcmeParts {
  readonly settings: AcmeSettings;
  /** Where the account's key is kept. */
  readonly folder: string;
  readonly challenges: Challenges;
}

/** A token is part of a path: base64url without padding (RFC 8555 section 8.3). */
const TOKEN = /^[\w-]{1,256}$/;
const MAX_FILE = 64 << 10;
/** Names of more characters fit in no common name. */
const MAX_COMMON_NAME = 64;
/** How often and how long apart the server is asked whether it is ready, in milliseconds. */
const ASKING = { backoffAttempts: 15, backoffMin: 1_000, backoffMax: 15_000 } as const;

/** One answer of the server: milliseconds and bytes. */
const ANSWER = { timeout: 30_000, maxContentLength: 1 << 20, maxRedirects: 0 } as const;
/** How long to wait if a server names no time. */
const BUSY_MS = 3_600_000;
/** RFC 8555 section 7.3.1. */
const NO_ACCOUNT = "urn:ietf:params:acme:error:accountDoesNotExist";

class UnknownAccount extends Error {
  override readonly name = "UnknownAccount";
}

// The library's own requests have no limit of time or size, and are repeated at once.
Object.assign(axios.defaults, ANSWER, { acmeSettings: { retryMaxAttempts: 0 } });
axios.interceptors.response.use((response) => {
  if (response.data?.type === NO_ACCOUNT) throw new UnknownAccount("the ACME server knows no account of this key");
  if (response.status !== 429 && response.status !== 503) return response;
  throw new AuthorityBusy(`the ACME server limits requests for now (${response.status})`, waitOf(response.headers));
});

/** Seconds or a date (RFC 9110 section 10.2.3). */
function waitOf(headers: { readonly [name: string]: unknown }): number {
  const text = String(headers["retry-after"] ?? "");
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return wait > 0 ? wait : BUSY_MS;
}

/** An ACME server (RFC 8555), which looks at each host over HTTP on port 80. */
export function acmeIssuer(parts: AcmeParts): Issuer {
  const { directory, email } = parts.settings;
  const account = { directoryUrl: directory, accountKey: accountKey(parts), ...ASKING };
  let client: Client | undefined;
  const order = async (host: string): Promise<HostCertificateText> => {
    client ??= await openAccount(() => new Client(account), email);
    return orderCertificate(client, host, parts.challenges);
  };
  const attempt = (host: string) =>
    order(host).catch((error: unknown) => {
      // Perhaps it no longer knows the account.
      client = undefined;
      throw error;
    });
  return { isPrompt: false, issue: (host, signal) => unlessAborted(attempt(host), signal) };
}

/** A client with the key's account, or else a new one. An update of an existing account must change something. */
async function openAccount(open: () => Client, email: string | undefined): Promise<Client> {
  const contact = email === undefined ? {} : { contact: [`mailto:${email}`] };
  const known = open();
  try {
    await known.createAccount({ onlyReturnExisting: true });
  } catch (error) {
    if (!(error instanceof UnknownAccount)) throw error;
    const fresh = open();
    await fresh.createAccount({ termsOfServiceAgreed: true, ...contact });
    return fresh;
  }
  if (email !== undefined) await known.updateAccount(contact);
  return known;
}

/** The same account at every start; another for another server. */
function accountKey({ folder, settings }: AcmeParts): string {
  makePrivateDirectory(folder);
  const name = createHash("sha256").update(settings.directory).digest("hex").slice(0, 16);
  const path = join(folder, `account-${name}.key`);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  createFile(path, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
  return readFileText(path, { maxBytes: MAX_FILE });
}

async function orderCertificate(client: Client, host: string, challenges: Challenges): Promise<HostCertificateText> {
  const order = await client.createOrder({ identifiers: [{ type: "dns", value: host }] });
  for (const authorization of await client.getAuthorizations(order)) await prove(client, authorization, challenges);
  const common = host.length <= MAX_COMMON_NAME ? { commonName: host } : {};
  const [key, request] = await crypto.createCsr(
    { ...common, altNames: [host] },
    await crypto.createPrivateEcdsaKey("P-256"),
  );
  const finished = await client.finalizeOrder(order, request);
  return { chain: await client.getCertificate(finished), key: key.toString() };
}

/** Shows the server that the host leads here. */
async function prove(client: Client, authorization: Authorization, challenges: Challenges): Promise<void> {
  if (authorization.status === "valid") return;
  const challenge = authorization.challenges.find(({ type }) => type === "http-01");
  if (challenge === undefined || !TOKEN.test(challenge.token)) {
    throw new Error("the ACME server offers no challenge over HTTP (http-01) for it");
  }
  await challenges.show(challenge.token, await client.getChallengeKeyAuthorization(challenge));
  try {
    await client.completeChallenge(challenge);
    await client.waitForValidStatus(challenge);
  } catch (cause) {
    throw new Error(`the ACME server did not reach it over HTTP on port 80: ${errorText(cause)}`, { cause });
  } finally {
    await challenges.hide(challenge.token);
  }
}
