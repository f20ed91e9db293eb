import { createHash, createPublicKey, verify } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { defineErrors, errorText } from "../../util/index.ts";

/** Errors of releases, which a network publishes. */
export const releaseErrors = defineErrors("release", {
  noNetwork: [2, "the network is not named", "set SVC_NET to the address of its files, or use --net"],
  badNetwork: [3, "it is no address of a network", "it begins with https:// or http://"],
  unreadable: [4, "a file of the network cannot be read", "is the network reachable, and does it have this release?"],
  badVersion: [5, "it is no version", "versions have the form v1.2.3"],
  badSignature: [
    6,
    "the signature of the release is wrong: its files are not from the makers of svc",
    "nothing was changed; tell the operators of the network",
  ],
  otherBytes: [7, "it is not the file that was signed", "nothing was changed; try again later"],
  older: [8, "the network offers an older version", "to install it all the same, name it with --version"],
  notInstalled: [
    9,
    "this svc was not put in place by install.sh",
    "bring up to date what it came from: its package, its image, or its checkout",
  ],
  noneBefore: [10, "there is no version to return to", "svc self update --version v1.2.3 installs one of the network"],
  unusable: [11, "the version does not run here", "nothing was changed"],
  notWritten: [12, "it cannot be put in place", "nothing was changed; is there room, and may you write there?"],
});

const VERSION_FORM = /^v(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024;
const TEXT_MS = 30_000;
const ARCHIVE_MS = 30 * 60_000;

/** Address of a network's files, without a slash at its end. */
export function parseNet(text: string): string {
  const { protocol = "" } = URL.canParse(text) ? new URL(text) : {};
  if (!["http:", "https:"].includes(protocol)) throw releaseErrors.badNetwork(JSON.stringify(text));
  return text.replace(/\/+$/, "");
}

/** The form in which versions are published and named: `v1.2.3`. */
export function parseVersion(text: string): string {
  if (!VERSION_FORM.test(text)) throw releaseErrors.badVersion(JSON.stringify(text.slice(0, 100)));
  return text;
}

export function isOlder(version: string, than: string): boolean {
  const [own, other] = [version, than].map((text) => parseVersion(text).slice(1).split(".").map(Number));
  const differs = (own ?? []).findIndex((part, i) => part !== other?.[i]);
  return differs >= 0 && (own?.[differs] ?? 0) < (other?.[differs] ?? 0);
}

/** The latest version that a network publishes. */
export async function latestVersion(net: string): Promise<string> {
  return parseVersion((await bytesOf(`${net}/version.txt`)).toString("utf8").trim());
}

export interface Release {
  readonly net: string;
  readonly version: string;
  /** The key that must have signed it, PEM. */
  readonly publicKey: string;
}

/** SHA-256 of each file of a release, by its name, after the signature was checked. */
export async function signedFiles({ net, version, publicKey }: Release): Promise<ReadonlyMap<string, string>> {
  const place = `${net}/releases/${version}/SHA256SUMS`;
  const [sums, signature] = [await bytesOf(place), await bytesOf(`${place}.sig`)];
  if (!verify(null, sums, createPublicKey(publicKey), signature)) throw releaseErrors.badSignature(place);
  const rows = sums.toString("utf8").matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm);
  return new Map([...rows].map(([, hash = "", name = ""]) => [name, hash]));
}

/** Brings a file of a release to a path. The release must list it, with the hash of its bytes. */
export async function bringFile(release: Release, name: string, path: string): Promise<void> {
  const listed = (await signedFiles(release)).get(name);
  const url = `${release.net}/releases/${release.version}/${name}`;
  if (listed === undefined) throw releaseErrors.unreadable(`${release.version} has no file ${name}`);
  const hash = createHash("sha256");
  let size = 0;
  const hashed = async function* (source: AsyncIterable<Uint8Array>) {
    for await (const part of source) {
      size += part.length;
      if (size > MAX_ARCHIVE_BYTES) throw releaseErrors.otherBytes(url);
      hash.update(part);
      yield part;
    }
  };
  const body = await opened(url, ARCHIVE_MS);
  await pipeline(body, hashed, createWriteStream(path, { flags: "wx", mode: 0o600 })).catch((error) => {
    throw isOfDisk(error) ? error : releaseErrors.unreadable(`${url}: ${errorText(error)}`, { cause: error });
  });
  if (hash.digest("hex") !== listed) throw releaseErrors.otherBytes(url);
}

/** Whether writing failed, not reading from the network. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && ["open", "write"].includes(String(error.syscall));
}

/** A short file of the network. */
async function bytesOf(url: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of await opened(url, TEXT_MS)) {
    size += part.length;
    if (size > MAX_TEXT_BYTES) throw releaseErrors.unreadable(`${url} has more than ${MAX_TEXT_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function opened(url: string, timeoutMs: number): Promise<Readable> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw releaseErrors.unreadable(`${url}: ${errorText(cause)}`, { cause });
  });
  if (!response.ok) await response.body?.cancel();
  if (!response.ok || response.body === null) throw releaseErrors.unreadable(`${url} answers ${response.status}`);
  return Readable.fromWeb(response.body);
}
