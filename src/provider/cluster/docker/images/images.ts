import { join } from "node:path";
import type { ManifestCredentials } from "../../../../sdl/index.ts";
import { errorText, type Logger, Turns } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { type ImageReference, parseReference } from "../../shared/index.ts";
import type { EngineApi } from "../api/api.ts";
import { ignoreNotFound, isNotFound } from "../api/failure.ts";
import type { DockerSettings } from "../options.ts";
import { imageArchive } from "./archive.ts";
import { Blobs } from "./blobs.ts";
import { tooLarge } from "./layer.ts";
import { Layers } from "./layers.ts";
import { PULLS } from "./limits.ts";
import { type ImagePlan, planImage } from "./manifest.ts";
import { RegistryNetwork } from "./network.ts";
import { type ImageRecord, ImageRecords } from "./records.ts";
import { Repository } from "./registry.ts";
import { Weigher } from "./weighing/weigher.ts";

/** The engine's repository for images that providers put there; no lease can name it. */
export const IMAGE_NAMES = "localhost/svc-images/";
/** An image that was used this recently may be about to get a container. */
const GRACE_MS = 600_000;

/** An image with its size on disk. */
export interface WeighedImage {
  /** Digest of its configuration. */
  readonly config: string;
  readonly bytes: number;
}

export interface PullOptions {
  /** The tenant. */
  readonly owner: string;
  /** Name of the lease. */
  readonly lease: string;
  /** Maximum bytes of disk for one image of the lease, packed and unpacked, within the provider's own limit. */
  readonly most: bigint;
  readonly credentials: ManifestCredentials | null;
  /** Called before the image goes into the engine; rejects where its lease has no room for it. */
  readonly claim: (image: WeighedImage) => Promise<void>;
  /** Ends the pull with its lease. */
  readonly signal: AbortSignal;
}

interface LoadSource {
  readonly source: string;
  readonly bytes: bigint;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

export interface ImagesOptions {
  readonly api: EngineApi;
  readonly settings: DockerSettings;
  readonly log: Logger;
  /** Unpromised bytes of disk; undefined if they cannot be measured. */
  readonly room: () => Promise<bigint | undefined>;
  /** Whether the engine's disk is so full that unused images should go. */
  readonly isTight?: () => Promise<boolean>;
  /** Whether a name belongs to an image made by this provider, which may be used even if local images may not. */
  readonly isOwn?: (name: string) => boolean;
  /** Images that leases have or are about to have, by the engine's id or the digest of their configuration. */
  readonly live: () => ReadonlySet<string>;
}

/**
 * Fetches images for leases without the engine: only what this provider may reach on behalf of a tenant, checked and
 * weighed, is loaded into it. An image that is already on the engine is not used for a lease whose own pull did not
 * name it.
 */
export class Images {
  readonly #options: ImagesOptions;
  readonly #network: RegistryNetwork;
  readonly #blobs: Blobs;
  readonly #records: ImageRecords;
  readonly #turns = new Turns(PULLS);
  /** Work that costs processor and disk: weighing layers and loading images. */
  readonly #work: Turns;
  readonly #layers: Layers;
  /** Bytes that pulls in progress will still take. */
  #reserved = 0n;

  constructor(options: ImagesOptions) {
    this.#options = options;
    const { settings, log } = options;
    this.#network = new RegistryNetwork({ log, ...settings.registries });
    this.#blobs = new Blobs(join(settings.stateDir, "images", "layers"), settings.limits.layerCacheBytes);
    this.#records = new ImageRecords(join(settings.stateDir, "images", "loaded"), log);
    const { parallelLoads } = settings.limits;
    this.#work = new Turns({ each: Math.ceil(parallelLoads / 2), all: parallelLoads });
    this.#layers = new Layers({ blobs: this.#blobs, work: this.#work, weigher: new Weigher(settings.weigher) });
  }

  async open(): Promise<void> {
    await this.#blobs.open();
    await this.#records.load();
  }

  /** Whether the content is still on the engine. */
  async present(imageId: string): Promise<boolean> {
    return (await this.#idOf(imageId)) !== undefined;
  }

  /** Size of an image on the engine, if this provider put it there. */
  weightOf(imageId: string): WeighedImage | undefined {
    return this.#records.ofImage(imageId);
  }

  /** Size of an image that is on the disk only for leases of this provider. */
  heldFor(imageId: string): WeighedImage | undefined {
    const record = this.#records.ofImage(imageId);
    return record?.foreign === true ? undefined : record;
  }

  /** Removes an image at once, unless a lease has it or a container runs from it. */
  async discard(imageId: string): Promise<void> {
    const record = this.#records.ofImage(imageId);
    if (record !== undefined && !this.#isLive(record)) await this.#remove(record);
  }

  /** Bytes of layers that are kept and can go at any time. */
  keptBytes(): Promise<bigint> {
    return this.#blobs.bytes();
  }

  /** Pulls with the tenant's credentials and returns the content id; rejects with the reason in one sentence. */
  async pull(image: string, options: PullOptions): Promise<string> {
    const reference = parseReference(image);
    if (reference.local) return this.#local(image, reference);
    return this.#turns.run(options.owner, async () => {
      const late = AbortSignal.timeout(this.#options.settings.timing.pullTimeout);
      try {
        return await this.#fetch(reference, { ...options, signal: AbortSignal.any([options.signal, late]) });
      } catch (error) {
        if (!late.aborted) throw error;
        throw clusterErrors.registryUnreachable(
          `image ${reference.full} could not be pulled in time; use a smaller image or a nearer registry`,
        );
      }
    });
  }

  /**
   * Removes images that no lease has used for a while, or at once if the disk is tight. Removes only our own names: the
   * engine keeps images with other names or with containers.
   */
  async collect(): Promise<void> {
    const { settings, isTight } = this.#options;
    await this.#noteUse();
    const tight = (await isTight?.()) === true;
    if (tight) await this.#blobs.trim(0n);
    for (const record of this.#idle(GRACE_MS)) {
      if (!(await this.#stillTight(tight)) && Date.now() - record.used < settings.timing.imageKeep) break;
      await this.#remove(record);
    }
  }

  /** Removes every image that this provider put on the engine, and all layers. */
  async purge(): Promise<void> {
    await this.#noteUse();
    for (const record of this.#records.all()) await this.#remove(record);
    await this.#blobs.trim(0n);
  }

  async #stillTight(tight: boolean): Promise<boolean> {
    return tight && (await this.#options.isTight?.()) === true;
  }

  /** Images that no lease has used for this long, the longest unused first. */
  #idle(graceMs: number): ImageRecord[] {
    const idle = this.#records.all().filter((record) => !this.#isLive(record) && Date.now() - record.used >= graceMs);
    return idle.toSorted((a, b) => a.used - b.used);
  }

  #isLive({ imageId, config }: ImageRecord): boolean {
    const live = this.#options.live();
    return live.has(imageId) || live.has(config);
  }

  /** Images that leases have are in use now; one on the engine whose record was lost gets a new one. */
  async #noteUse(): Promise<void> {
    const { api } = this.#options;
    for (const record of this.#records.all()) {
      if (this.#isLive(record) && Date.now() - record.used >= GRACE_MS / 2) {
        this.#records.save({ ...record, used: Date.now() });
      }
    }
    for (const { tag, imageId, bytes } of await api.listTags(this.#names)) {
      const config = `sha256:${tag.slice(this.#names.length + 1)}`;
      if (!/^sha256:[0-9a-f]{64}$/.test(config) || this.#records.get(config) !== undefined) continue;
      this.#records.save({ config, imageId, bytes, sources: [], foreign: false, used: Date.now() });
    }
  }

  async #remove(record: ImageRecord): Promise<void> {
    const { api, log } = this.#options;
    try {
      if (record.foreign && (await this.#isLastName(record))) return;
      await api.removeImage(this.#tag(record.config)).catch(ignoreNotFound);
      await this.#records.remove(record.config);
    } catch (error) {
      log.debug("an image stays on the engine", { image: record.imageId, err: errorText(error) });
    }
  }

  /** Without its own name, another owner's image would be removed together with ours. */
  async #isLastName({ config }: ImageRecord): Promise<boolean> {
    const names = await this.#options.api.imageNames(this.#tag(config)).catch((error) => {
      if (isNotFound(error)) return [];
      throw error;
    });
    return names.length === 1;
  }

  async #local(image: string, reference: ImageReference): Promise<string> {
    const { settings, isOwn } = this.#options;
    const isAllowed = settings.allowLocalImages && !reference.full.startsWith(IMAGE_NAMES);
    if (!isAllowed && isOwn?.(reference.full) !== true) throw clusterErrors.imageRefused(`image ${image}`);
    const imageId = await this.#idOf(reference.full);
    if (imageId !== undefined) return imageId;
    throw clusterErrors.imageNotFound(`image ${image} does not exist on this machine; build or import it first`);
  }

  async #fetch(reference: ImageReference, options: PullOptions): Promise<string> {
    const { owner: tenant, lease, credentials, claim, signal } = options;
    const login = credentials ?? undefined;
    const repository = new Repository(this.#network, reference, { login, signal });
    const plan = await planImage(repository, reference.full, await this.#architecture());
    const source = `${reference.registry}/${repository.path}@${plan.manifest}`;
    const known = await this.#known(plan.config.digest, source);
    if (known !== undefined) {
      await claim(known);
      this.#records.save({ ...known, used: Date.now() });
      return known.imageId;
    }
    const { imageBytes } = this.#options.settings.limits;
    const most = options.most < imageBytes ? options.most : imageBytes;
    const packed = plan.layers.reduce((sum, { size }) => sum + BigInt(size), 0n);
    if (packed > most) throw tooLarge(reference.full, most);
    const weighed = this.#layers.weightOf(plan, reference.full, most);
    if (weighed !== undefined) {
      await claim({ config: plan.config.digest, bytes: Number(weighed) });
      await this.#withRoom(weighed + packed, reference, async () => {});
    }
    const owner = repository.isPublic ? "" : `${reference.registry}/${repository.path}`;
    const files = plan.layers.map(({ digest }) => this.#blobs.path(digest, owner));
    try {
      return await this.#blobs.using(files, async () => {
        const bytes = await this.#withRoom(packed, reference, () =>
          this.#layers.fetch(plan, files, { image: reference.full, repository, tenant, lease, most, signal }),
        );
        await claim({ config: plan.config.digest, bytes: Number(bytes) });
        // Engines store the received archive before they unpack it.
        return this.#withRoom(bytes + packed, reference, () =>
          this.#load(plan, files, { source, bytes, tenant, signal }),
        );
      });
    } finally {
      await this.#blobs.trim();
    }
  }

  /** The image where it is on the engine, and a registry has given its manifest for the name before. */
  async #known(config: string, source: string): Promise<ImageRecord | undefined> {
    const record = this.#records.get(config);
    if (record?.sources.includes(source) !== true) return undefined;
    return (await this.#idOf(this.#tag(config))) === record.imageId ? record : undefined;
  }

  async #load(
    plan: ImagePlan,
    layers: readonly string[],
    { source, bytes, tenant, signal }: LoadSource,
  ): Promise<string> {
    const { api } = this.#options;
    const config = plan.config.digest;
    const tag = this.#tag(config);
    const own = await this.#idOf(tag);
    const foreign = own === undefined && (await this.#idOf(config)) !== undefined;
    await this.#work.run(tenant, () => api.loadImage(imageArchive({ config: plan.config, layers, tag }), signal));
    const imageId = await api.imageId(tag);
    const before = this.#records.get(config);
    this.#records.save({
      config,
      imageId,
      bytes: Number(bytes),
      sources: [...(before?.sources ?? []), source],
      foreign: before?.foreign ?? foreign,
      used: Date.now(),
    });
    return imageId;
  }

  /** Runs the task if this many bytes are free besides those promised to others. */
  async #withRoom<T>(bytes: bigint, { full }: ImageReference, task: () => Promise<T>): Promise<T> {
    this.#reserved += bytes;
    try {
      if (!(await this.#hasRoom()) && !(await this.#cleared())) {
        throw clusterErrors.noRoom(`image ${full} needs ${bytes >> 20n} MiB of disk; deploy at another provider`);
      }
      return await task();
    } finally {
      this.#reserved -= bytes;
    }
  }

  /** Layers kept for the next image go before an image is refused, then images that no lease has; tells whether that was enough. */
  async #cleared(): Promise<boolean> {
    await this.#blobs.trim(0n);
    for (const record of this.#idle(0)) {
      if (await this.#hasRoom()) return true;
      await this.#remove(record);
    }
    return this.#hasRoom();
  }

  async #hasRoom(): Promise<boolean> {
    const room = await this.#options.room();
    return room === undefined || room >= this.#reserved;
  }

  async #architecture(): Promise<string> {
    return (await this.#options.api.info()).architecture;
  }

  async #idOf(name: string): Promise<string | undefined> {
    try {
      return await this.#options.api.imageId(name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Name of this provider's images, without tags. */
  get #names(): string {
    return `${IMAGE_NAMES}${this.#options.settings.namePrefix}`;
  }

  #tag(config: string): string {
    return `${this.#names}:${config.slice("sha256:".length)}`;
  }
}
