import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Pack } from "tar-stream";

/** Contents of an image archive for an engine. */
export interface ArchivedImage {
  /** Bytes of its configuration, and their digest. */
  readonly config: { readonly digest: string; readonly bytes: Uint8Array };
  /** Files of its layers, packed or not, the lowest first. */
  readonly layers: readonly string[];
  readonly tag: string;
}

/** The form in which every engine takes images (`docker save`). Nothing is opened before it is read. */
export function imageArchive(image: ArchivedImage): Readable {
  return Readable.from(archive(image));
}

async function* archive(image: ArchivedImage): AsyncGenerator<Buffer> {
  const { pack } = await import("tar-stream");
  const tar = pack();
  let fault: unknown;
  const filled = fill(tar, image).catch((error) => {
    fault = error;
    tar.destroy();
  });
  try {
    for await (const chunk of tar) yield chunk;
  } catch (error) {
    await filled;
    throw fault ?? error;
  } finally {
    tar.destroy();
    await filled;
  }
}

async function fill(tar: Pack, { config, layers, tag }: ArchivedImage): Promise<void> {
  const name = `${config.digest.slice("sha256:".length)}.json`;
  const names = layers.map((_, index) => `${index}.tar`);
  tar.entry({ name }, Buffer.from(config.bytes));
  for (const [index, file] of layers.entries()) {
    const entry = tar.entry({ name: names[index] ?? "", size: (await stat(file)).size });
    await pipeline(createReadStream(file), entry);
  }
  tar.entry({ name: "manifest.json" }, JSON.stringify([{ Config: name, RepoTags: [tag], Layers: names }]));
  tar.finalize();
}
