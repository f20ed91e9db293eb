import { Semaphore, type Turns } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import type { Blobs } from "./blobs.ts";
import { fetchLayer, isLayer, tooLarge } from "./layer.ts";
import { PARALLEL_LAYERS } from "./limits.ts";
import type { ImagePlan, LayerEntry } from "./manifest.ts";
import type { Repository } from "./registry.ts";
import type { Weight } from "./weighing/measure.ts";
import type { Weigher } from "./weighing/weigher.ts";
import { Weights } from "./weighing/weights.ts";

interface LayersOptions {
  readonly blobs: Blobs;
  readonly work: Turns;
  readonly weigher: Weigher;
}

/** Source of layers, and the lease that they are for. */
interface LayerSource {
  readonly image: string;
  readonly repository: Repository;
  readonly tenant: string;
  readonly lease: string;
  readonly most: bigint;
  readonly signal: AbortSignal;
}

interface PlannedLayer {
  readonly layer: LayerEntry;
  readonly file: string;
  /** Digest of the layer unpacked, as the configuration of its image has it. */
  readonly diffId: string | undefined;
  /** Bytes that are left for it when its turn comes. */
  readonly left: () => bigint;
}

/** Fetches the layers of images into files, and weighs each before an image with it is loaded. */
export class Layers {
  readonly #options: LayersOptions;
  readonly #weights = new Weights();

  constructor(options: LayersOptions) {
    this.#options = options;
  }

  /** Unpacked size of an image, if all its layers were weighed before; otherwise undefined. Throws if it is refused. */
  weightOf(plan: ImagePlan, image: string, most: bigint): bigint | undefined {
    let total = 0n;
    let isWhole = true;
    for (const [index, { digest }] of plan.layers.entries()) {
      const weight = this.#weights.get(digest);
      isWhole &&= weight?.kind === "whole";
      if (weight !== undefined) total += bytesOf(weight, { image, diffId: plan.diffIds[index] });
      if (total > most || (weight?.kind === "over" && total >= most)) throw tooLarge(image, most);
    }
    return isWhole ? total : undefined;
  }

  /** Fetches, checks and weighs all layers; returns their unpacked size. */
  async fetch(plan: ImagePlan, files: readonly string[], source: LayerSource): Promise<bigint> {
    const { image, most, signal } = source;
    const slots = new Semaphore(PARALLEL_LAYERS);
    const failed = new AbortController();
    const stop = AbortSignal.any([signal, failed.signal]);
    let total = 0n;
    const one = async (index: number): Promise<void> => {
      stop.throwIfAborted();
      const [layer, file] = [plan.layers[index], files[index]];
      if (layer === undefined || file === undefined) throw new Error("assertion failed: a layer without a file");
      const diffId = plan.diffIds[index];
      const left = () => most - total;
      const weight = await this.#weighed({ layer, file, diffId, left }, { ...source, signal: stop });
      this.#weights.note(layer.digest, weight);
      total += bytesOf(weight, { image, diffId });
      if (total > most || weight.kind === "over") throw tooLarge(image, most);
    };
    const tasks = plan.layers.map((_, index) => slots.run(() => one(index)));
    try {
      await Promise.all(tasks);
    } catch (error) {
      failed.abort();
      await Promise.allSettled(tasks);
      throw error;
    }
    return total;
  }

  /** The weight of a layer that is here, or is fetched now. */
  async #weighed(
    { layer, file, diffId, left }: PlannedLayer,
    { image, repository, tenant, lease, signal }: Omit<LayerSource, "most">,
  ): Promise<Weight> {
    const fetch = () =>
      this.#options.blobs.add(file, async (draft) =>
        fetchLayer(await repository.blob(layer.digest), layer, { image, file: draft, signal }),
      );
    const weigh = () =>
      this.#options.work.run(tenant, () => this.#options.weigher.weigh(file, { lease, most: left(), signal }));
    const isKept = await this.#options.blobs.has(file, layer.size);
    if (!isKept) await fetch();
    const weight = await weigh();
    const isRight = weight.kind === "whole" && weight.diffId === diffId;
    // An image that the disk has damaged since must not stay unavailable to everybody.
    if (isRight || !isKept || (await isLayer(file, layer, signal))) return weight;
    await fetch();
    return weigh();
  }
}

/** Minimum size of a layer. Throws if no image can contain it, or none that names this layer. */
function bytesOf(
  weight: Weight,
  { image, diffId }: { readonly image: string; readonly diffId: string | undefined },
): bigint {
  if (weight.kind === "fault") {
    throw clusterErrors.imageInvalid(`image ${image}: a layer cannot be unpacked (${weight.text})`);
  }
  // Engines know an image by its configuration: with other layers it would become another's image.
  if (weight.kind === "whole" && weight.diffId !== diffId) {
    throw clusterErrors.imageInvalid(`image ${image}: a layer is not the one that its configuration names`);
  }
  return weight.bytes;
}
