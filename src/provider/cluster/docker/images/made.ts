import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineApi } from "../api/api.ts";
import { isNotFound } from "../api/failure.ts";
import { imageArchive } from "./archive.ts";

const LOAD_TIMEOUT_MS = 60_000;

/** An image made by this provider, of one layer. */
export interface MadeImage {
  readonly tag: string;
  /** The part `config` of an image's configuration: program, environment, ports. */
  readonly config: object;
  /** Its files, as a tar archive. */
  readonly tree: () => Promise<Buffer>;
}

/** Puts the image on the engine unless its tag is there. */
export async function ensureImage(api: EngineApi, image: MadeImage): Promise<void> {
  try {
    await api.imageId(image.tag);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await load(api, image);
  }
}

/**
 * Loads an image of one layer: an engine that imports a plain archive keeps a copy of it in its folder of temporary
 * files.
 */
async function load(api: EngineApi, { tag, config, tree }: MadeImage): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-image-"));
  try {
    const layer = join(folder, "layer.tar");
    const files = await tree();
    await writeFile(layer, files);
    const { architecture } = await api.info();
    const rootfs = { type: "layers", diff_ids: [sha256(files)] };
    const bytes = Buffer.from(JSON.stringify({ architecture, os: "linux", config, rootfs }));
    const archive = imageArchive({ config: { digest: sha256(bytes), bytes }, layers: [layer], tag });
    await api.loadImage(archive, AbortSignal.timeout(LOAD_TIMEOUT_MS));
    await api.imageId(tag);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
