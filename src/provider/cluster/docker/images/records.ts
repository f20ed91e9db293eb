import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { errorText, type Logger, makePrivateDirectory, replaceFile } from "../../../../util/index.ts";

/** An image that this provider put on the engine. */
export interface ImageRecord {
  /** Digest of its configuration. */
  readonly config: string;
  /** The engine's id of it. */
  readonly imageId: string;
  /** Bytes of disk that it takes at most. */
  readonly bytes: number;
  /** Digests of its manifests in registries: a lease may use the image only if a registry gives it one of them. */
  readonly sources: readonly string[];
  /** Whether the engine already had the image. */
  readonly foreign: boolean;
  /** When a lease was last seen with it, milliseconds since the epoch. */
  readonly used: number;
}

const Stored = v.object({
  format: v.literal(1),
  config: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
  imageId: v.string(),
  bytes: v.number(),
  sources: v.array(v.string()),
  foreign: v.boolean(),
  used: v.number(),
});
const SUFFIX = ".json";
/** Names remembered for one image; the oldest goes first, which costs a download. */
const MAX_SOURCES = 64;

/**
 * One file for each image, by its configuration. A lost file costs a download: the tag on the engine still tells whose
 * image it is.
 */
export class ImageRecords {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #records = new Map<string, ImageRecord>();

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  async load(): Promise<void> {
    makePrivateDirectory(this.#folder);
    for (const name of (await readdir(this.#folder)).filter((each) => each.endsWith(SUFFIX))) {
      try {
        const { format: _format, ...record } = v.parse(
          Stored,
          JSON.parse(await readFile(join(this.#folder, name), "utf8")),
        );
        this.#records.set(record.config, record);
      } catch (error) {
        this.#log.warn("record of an image cannot be read; it is fetched again when it is wanted", {
          file: name,
          err: errorText(error),
        });
        await rm(join(this.#folder, name), { force: true, recursive: true });
      }
    }
  }

  get(config: string): ImageRecord | undefined {
    return this.#records.get(config);
  }

  ofImage(imageId: string): ImageRecord | undefined {
    return [...this.#records.values()].find((record) => record.imageId === imageId);
  }

  all(): ImageRecord[] {
    return [...this.#records.values()];
  }

  save(record: ImageRecord): void {
    const kept = { ...record, sources: record.sources.slice(-MAX_SOURCES) };
    this.#records.set(record.config, kept);
    replaceFile(this.#path(record.config), JSON.stringify({ format: 1, ...kept }));
  }

  async remove(config: string): Promise<void> {
    this.#records.delete(config);
    await rm(this.#path(config), { force: true });
  }

  #path(config: string): string {
    return join(this.#folder, `${config.slice("sha256:".length)}${SUFFIX}`);
  }
}
