import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { clusterErrors } from "../../contract/index.ts";
import { PACE } from "./limits.ts";
import type { LayerEntry } from "./manifest.ts";

/** Streams a layer into a file, and checks its length and digest against the manifest. */
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

export function tooLarge(image: string, most: bigint): Error {
  return clusterErrors.imageTooLarge(
    `image ${image} takes more than the ${most >> 20n} MiB that this lease may have for an image; use a smaller one, or order more storage`,
  );
}

function isOurs(error: unknown): boolean {
  return error instanceof Error && error.name === "SvcError";
}

/** A full or broken disk here is not the registry's fault. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && (error.syscall === "write" || error.syscall === "open");
}
