import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { type Duplex, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { errorText } from "../../../../../util/index.ts";
import { TarWeigher } from "./tar-weigher.ts";

/** Result of unpacking a layer. */
export type Weight =
  /** Digest of the tar, and bytes of disk that it takes at most. */
  | { readonly kind: "whole"; readonly diffId: string; readonly bytes: bigint }
  /** It takes more bytes than these; it was not unpacked any further. */
  | { readonly kind: "over"; readonly bytes: bigint }
  | { readonly kind: "fault"; readonly text: string };

/** Most characters of a fault, which is in the words of a library. */
const MAX_FAULT = 100;

class TooHeavy extends Error {}

/** Unpacks a layer without keeping it, no further than `most` bytes. Rejects only with faults of the disk. */
export async function measureLayer(file: string, most: bigint): Promise<Weight> {
  const hash = createHash("sha256");
  const weigher = new TarWeigher();
  const scales = new Writable({
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(faultOf(() => weigher.push(chunk)) ?? (weigher.weight > most ? new TooHeavy() : null));
    },
    final: (done) => done(faultOf(() => weigher.end())),
  });
  try {
    const unpack = await unpacker(file);
    const input = createReadStream(file);
    if (unpack === undefined) await pipeline(input, scales);
    else await pipeline(input, unpack, scales);
  } catch (error) {
    if (error instanceof TooHeavy) return { kind: "over", bytes: most };
    if (error instanceof Error && "syscall" in error) throw error;
    return { kind: "fault", text: errorText(error).slice(0, MAX_FAULT) };
  }
  return { kind: "whole", diffId: `sha256:${hash.digest("hex")}`, bytes: weigher.weight };
}

function faultOf(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** By its first bytes, as engines tell; undefined where it is not packed. */
async function unpacker(file: string): Promise<Duplex | undefined> {
  const handle = await open(file);
  const head = Buffer.alloc(4);
  await handle.read(head, 0, 4, 0).finally(() => handle.close());
  if (head.subarray(0, 2).equals(GZIP)) return zlib.createGunzip();
  if (!head.equals(ZSTD)) return undefined;
  // Node.js before 22.15 has none.
  const make: unknown = Reflect.get(zlib, "createZstdDecompress");
  if (typeof make === "function") return make();
  const { unpackZstd } = await import("./zstd.ts");
  return unpackZstd();
}
