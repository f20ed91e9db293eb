import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import { commandError, errorText, readFileText } from "../../../../util/index.ts";
import type { ApiAccess, Credentials, Secret } from "./access.ts";
import { fixedCredentials, isToken, pluginCredentials, tokenFile } from "./credentials.ts";

/** Bytes of a kubeconfig file, and of each file that it names. */
export const MAX_CONFIG_BYTES = 1 << 20;

const Text = v.optional(v.string());
const Cluster = v.object({
  server: v.string(),
  "certificate-authority": Text,
  "certificate-authority-data": Text,
  "tls-server-name": Text,
  "insecure-skip-tls-verify": v.optional(v.boolean()),
  "proxy-url": Text,
});
const Plugin = v.object({
  apiVersion: v.string(),
  command: v.pipe(v.string(), v.minLength(1)),
  args: v.nullish(v.array(v.string())),
  env: v.nullish(v.array(v.object({ name: v.string(), value: v.string() }))),
});
const User = v.object({
  "client-certificate": Text,
  "client-certificate-data": Text,
  "client-key": Text,
  "client-key-data": Text,
  token: Text,
  tokenFile: Text,
  exec: v.optional(Plugin),
  username: Text,
  as: Text,
  "auth-provider": v.optional(v.unknown()),
});
const Context = v.object({ cluster: v.string(), user: v.optional(v.string()) });
const named = { name: v.string() };
const Config = v.object({
  "current-context": Text,
  clusters: v.nullish(v.array(v.object({ ...named, cluster: v.nullish(Cluster) }))),
  users: v.nullish(v.array(v.object({ ...named, user: v.nullish(User) }))),
  contexts: v.nullish(v.array(v.object({ ...named, context: v.nullish(Context) }))),
});

type ClusterEntry = v.InferOutput<typeof Cluster>;
type UserEntry = v.InferOutput<typeof User>;

/** Reads a kubeconfig file; the context is its current one where none is named. Throws one sentence with the remedy. */
export function readKubeconfig(path: string, context?: string): ApiAccess {
  const config = parseConfig(path);
  const name = context ?? config["current-context"] ?? "";
  const { cluster, user } = entry(path, "context", name, config.contexts).context;
  const folder = dirname(resolve(path));
  return {
    ...serverOf(path, folder, entry(path, "cluster", cluster, config.clusters).cluster),
    credentials: user ? userOf(path, folder, entry(path, "user", user, config.users).user) : fixedCredentials({}),
  };
}

function parseConfig(path: string): v.InferOutput<typeof Config> {
  let value: unknown;
  try {
    value = parse(readFileText(path, { maxBytes: MAX_CONFIG_BYTES }));
  } catch (error) {
    throw commandError(`${path} cannot be read: ${errorText(error)}`);
  }
  const read = v.safeParse(Config, Array.isArray(value) ? undefined : value);
  if (read.success) return read.output;
  const [{ message, path: place } = { message: "", path: undefined }] = read.issues;
  const where = (place ?? []).map(({ key }) => String(key)).join(".");
  throw commandError(`${path} is not a kubeconfig file: ${where === "" ? "" : `${where}: `}${message}`);
}

/** The entry of the name, with its contents. */
function entry<K extends string, T extends { readonly name: string } & { readonly [key in K]?: unknown }>(
  path: string,
  kind: K,
  name: string,
  list: readonly T[] | null | undefined,
): T & { readonly [key in K]: NonNullable<T[K]> } {
  const found = list?.find((each) => each.name === name);
  if (found?.[kind]) return found as T & { readonly [key in K]: NonNullable<T[K]> };
  const names = (list ?? []).map((each) => each.name).join(", ");
  throw commandError(`${path} has no ${kind} "${name}"`, { hint: `it has ${names === "" ? "none" : names}` });
}

function serverOf(path: string, folder: string, cluster: ClusterEntry): Pick<ApiAccess, "server" | "tls"> {
  if (cluster["proxy-url"])
    throw commandError(`${path}: proxy-url is not supported`, { hint: "name the server itself" });
  const ca = pem(folder, cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const servername = cluster["tls-server-name"];
  return {
    server: serverUrl(path, cluster.server),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(servername ? { servername } : {}),
      ...(cluster["insecure-skip-tls-verify"] === true ? { rejectUnauthorized: false } : {}),
    },
  };
}

function serverUrl(path: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "") return url;
  throw commandError(`${path}: "${text.slice(0, 200)}" is not the address of an API server`, {
    hint: "write https://HOST:PORT",
  });
}

/** Settings for calls as another user are refused. */
const UNSUPPORTED = ["auth-provider", "username", "as"] as const;

function userOf(path: string, folder: string, user: UserEntry): Credentials {
  for (const key of UNSUPPORTED) {
    if (user[key] === undefined) continue;
    throw commandError(`${path}: ${key} of a user is not supported`, {
      hint: "use a token, a client certificate or exec",
    });
  }
  const cert = pem(folder, user["client-certificate-data"], user["client-certificate"]);
  const key = pem(folder, user["client-key-data"], user["client-key"]);
  if ((cert === undefined) !== (key === undefined)) {
    throw commandError(`${path}: a client certificate needs its key, and the key its certificate`);
  }
  const own: Secret = cert !== undefined && key !== undefined ? { cert, key } : {};
  // A token in the file itself has precedence over one in its own file, and both over the program.
  if (user.token) return fixedCredentials({ ...own, token: checkedToken(path, user.token) });
  if (user.tokenFile) return tokenFile(resolve(folder, user.tokenFile), own);
  if (user.exec !== undefined && cert === undefined) return pluginOf(folder, user.exec);
  return fixedCredentials(own);
}

function checkedToken(path: string, token: string): string {
  if (!isToken(token)) throw commandError(`${path}: the token of the user has characters that no token has`);
  return token;
}

function pluginOf(folder: string, plugin: v.InferOutput<typeof Plugin>): Credentials {
  const { apiVersion, command, args, env } = plugin;
  return pluginCredentials({
    apiVersion,
    // A path is relative to the file; a bare name is looked for as shells do.
    command: command.includes("/") ? resolve(folder, command) : command,
    args: args ?? [],
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
  });
}

/** Data in the file has precedence over the name of a file. */
function pem(folder: string, data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, "base64").toString("utf8");
  return file ? readFileText(resolve(folder, file), { maxBytes: MAX_CONFIG_BYTES }) : undefined;
}

/** Where clusters mount the files of a pod's service account. */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Access of a program in the cluster; undefined outside. */
export function inClusterAccess(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder = SERVICE_ACCOUNT,
): ApiAccess | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const token = join(folder, "token");
  if (!host || !port || !existsSync(token)) return undefined;
  const ca = readFileText(join(folder, "ca.crt"), { maxBytes: MAX_CONFIG_BYTES });
  const server = new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  return { server, tls: { ca }, credentials: tokenFile(token) };
}
