import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { type Duplex, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { errorText } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { PACE } from "./limits.ts";
import type { LayerEntry } from "./manifest.ts";
import { TarWeigher } from "./tar-weigher.ts";

/** Puts a layer into a file while it comes: its length and digest are exactly those of the manifest. */
export async function fetchLayer(
  source: AsyncIterable<Buffer>,
  layer: LayerEntry,
  { image, file, signal }: { readonly image: string; readonly file: string; readonly signal: AbortSignal },
): Promise<void> {
  const hash = createHash("sha256");
  let length = 0;
  const tooSlow = new AbortController();
  let told = 0;
  const pace = setInterval(() => {
    if (length - told < PACE.bytes) tooSlow.abort();
    told = length;
  }, PACE.everyMs);
  pace.unref();
  const wrong = () =>
    clusterErrors.imageInvalid(`image ${image}: a layer is not what its manifest names (wrong digest or size)`);
  try {
    const checked = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        length += chunk.length;
        if (length > layer.size) throw wrong();
        hash.update(chunk);
        yield chunk;
      }
    };
    const stop = AbortSignal.any([signal, tooSlow.signal]);
    await pipeline(source, checked, createWriteStream(file, { flags: "wx", mode: 0o600 }), { signal: stop });
  } catch (error) {
    if (tooSlow.signal.aborted)
      throw clusterErrors.registryUnreachable(`image ${image}: its registry sends too slowly`);
    if (signal.aborted || isOurs(error) || isOfDisk(error)) throw error;
    throw clusterErrors.registryUnreachable(`image ${image}: its registry ended the connection within a layer`, {
      cause: error,
    });
  } finally {
    clearInterval(pace);
  }
  if (length !== layer.size || `sha256:${hash.digest("hex")}` !== layer.digest) throw wrong();
}

/** Whether the file has the contents that the manifest names. */
export async function isLayer(file: string, { digest }: LayerEntry, signal: AbortSignal): Promise<boolean> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash, { signal });
  return `sha256:${hash.digest("hex")}` === digest;
}

export interface Measured {
  /** Digest of the unpacked layer. */
  readonly diffId: string;
  /** Bytes of disk that it takes, at most. */
  readonly bytes: bigint;
}

export interface MeasureOptions {
  readonly image: string;
  /** Bytes above which it is refused. */
  readonly most: bigint;
  readonly signal: AbortSignal;
}

/** Unpacks a layer without keeping it: returns its digest and what it would take, and stops at the limit. */
export async function measureLayer(file: string, { image, most, signal }: MeasureOptions): Promise<Measured> {
  const hash = createHash("sha256");
  const weigher = new TarWeigher();
  const scales = new Writable({
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(faultOf(() => weigher.push(chunk)) ?? (weigher.weight > most ? tooLarge(image, most) : null));
    },
    final: (done) => done(faultOf(() => weigher.end())),
  });
  try {
    const unpack = await unpacker(file, image);
    const input = createReadStream(file);
    if (unpack === undefined) await pipeline(input, scales, { signal });
    else await pipeline(input, unpack, scales, { signal });
  } catch (error) {
    if (signal.aborted || isOurs(error)) throw error;
    throw clusterErrors.imageInvalid(`image ${image}: a layer cannot be unpacked (${errorText(error).slice(0, 100)})`);
  }
  return { diffId: `sha256:${hash.digest("hex")}`, bytes: weigher.weight };
}

function faultOf(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

export function tooLarge(image: string, most: bigint): Error {
  return clusterErrors.imageTooLarge(
    `image ${image} takes more than the ${most >> 20n} MiB that this provider has for an image; use a smaller one`,
  );
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** By its first bytes, as engines tell; undefined where it is not packed. */
async function unpacker(file: string, image: string): Promise<Duplex | undefined> {
  const handle = await open(file);
  const head = Buffer.alloc(4);
  await handle.read(head, 0, 4, 0).finally(() => handle.close());
  if (head.subarray(0, 2).equals(GZIP)) return zlib.createGunzip();
  if (!head.equals(ZSTD)) return undefined;
  const make: unknown = Reflect.get(zlib, "createZstdDecompress");
  if (typeof make === "function") return make();
  throw clusterErrors.imageInvalid(
    `image ${image}: a layer is packed with zstd, for which this provider's Node.js is too old`,
  );
}

function isOurs(error: unknown): boolean {
  return error instanceof Error && error.name === "SvcError";
}

/** A full or broken disk here is not the registry's fault. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && (error.syscall === "write" || error.syscall === "open");
}
