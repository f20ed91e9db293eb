import { execFile } from "node:child_process";
import * as v from "valibot";
import { commandError, errorText, readFileText, systemClock, tryJson } from "../../../../util/index.ts";
import type { Credentials, Secret } from "./access.ts";

/** A secret that never changes. */
export function fixedCredentials(secret: Secret): Credentials {
  return { current: async () => secret, renew: () => false };
}

const MAX_TOKEN_BYTES = 64 << 10;
/** Tokens of service accounts are replaced long before they end. */
const TOKEN_FILE_MS = 60_000;

/** A token in a file that is renewed by others, as clusters do for pods. */
export function tokenFile(path: string, rest: Secret = {}, now: () => number = systemClock.now): Credentials {
  const read = async (): Promise<Kept> => {
    const token = readFileText(path, { maxBytes: MAX_TOKEN_BYTES }).trim();
    if (!isToken(token)) throw commandError(`${path} holds no token`);
    return { secret: { ...rest, token }, until: now() + TOKEN_FILE_MS };
  };
  return keeping(read, now);
}

/** A program that prints credentials, as kubeconfig files name one. */
export interface PluginCall {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const PLUGIN_MS = 60_000;
const PLUGIN_BYTES = 1 << 20;
/** A new one is asked for this long before the old one expires. */
const PLUGIN_EARLY_MS = 30_000;

const Printed = v.object({
  kind: v.literal("ExecCredential"),
  status: v.object({
    token: v.optional(v.string()),
    clientCertificateData: v.optional(v.string()),
    clientKeyData: v.optional(v.string()),
    expirationTimestamp: v.optional(v.string()),
  }),
});

/** The program's output, until it expires or the server refuses it. */
export function pluginCredentials(call: PluginCall, now: () => number = systemClock.now): Credentials {
  return keeping(async () => keptOf(call, await run(call)), now);
}

interface Kept {
  readonly secret: Secret;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Calls at the same time wait for one reading. */
function keeping(read: () => Promise<Kept>, now: () => number): Credentials {
  let kept: Kept | undefined;
  let reading: Promise<Kept> | undefined;
  const fresh = (): Promise<Kept> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    async current() {
      if (kept === undefined || kept.until <= now()) kept = await fresh();
      return kept.secret;
    },
    renew() {
      kept = undefined;
      return true;
    },
  };
}

function run({ apiVersion, command, args, env }: PluginCall): Promise<string> {
  const info = JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } });
  const options = {
    timeout: PLUGIN_MS,
    maxBuffer: PLUGIN_BYTES,
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info },
  };
  return new Promise((resolve, reject) => {
    const child = execFile(command, [...args], options, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(commandError(`"${command}" gives no credentials for the cluster: ${errorText(error)}`));
    });
    child.stdin?.end();
  });
}

function keptOf({ command }: PluginCall, text: string): Kept {
  const printed = v.safeParse(Printed, tryJson(text));
  if (!printed.success) throw commandError(`what "${command}" prints is not a credential for the cluster`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = printed.output.status;
  const isWhole = (cert === undefined) === (key === undefined) && (token === undefined || isToken(token));
  if (!isWhole || (token ?? cert) === undefined) {
    throw commandError(`"${command}" prints neither a token nor a certificate with its key`);
  }
  const end = expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationTimestamp);
  if (Number.isNaN(end)) throw commandError(`"${command}" prints an invalid expiration time: ${expirationTimestamp}`);
  const secret = { ...(token === undefined ? {} : { token }), ...(cert && key ? { cert, key } : {}) };
  return { secret, until: end - PLUGIN_EARLY_MS };
}

/** Whether the text can be in a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
