import { createHash, createPublicKey, verify } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { errorText } from "../../util/index.ts";
import { openPublished, publishedBytes, releaseErrors } from "../../util/servers/index.ts";

const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024;
const ARCHIVE_MS = 30 * 60_000;

export interface Release {
  readonly net: string;
  readonly version: string;
  /** The key that must have signed it, PEM. */
  readonly publicKey: string;
}

/** SHA-256 of each file of a release, by its name, after the signature was checked. */
export async function signedFiles({ net, version, publicKey }: Release): Promise<ReadonlyMap<string, string>> {
  const place = `${net}/releases/${version}/SHA256SUMS`;
  const [sums, signature] = [await publishedBytes(place), await publishedBytes(`${place}.sig`)];
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
  const body = await openPublished(url, ARCHIVE_MS);
  await pipeline(body, hashed, createWriteStream(path, { flags: "wx", mode: 0o600 })).catch((error) => {
    throw isOfDisk(error) ? error : releaseErrors.unreadable(`${url}: ${errorText(error)}`, { cause: error });
  });
  if (hash.digest("hex") !== listed) throw releaseErrors.otherBytes(url);
}

/** Whether writing failed, not reading from the network. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && ["open", "write"].includes(String(error.syscall));
}
