import type { Weight } from "./measure.ts";

/** Layers that are remembered; the one that was asked for least recently goes first, which costs another weighing. */
const MAX_LAYERS = 10_000;

/** Weights by the digest of the packed layer, so that a refused layer is refused again without work. */
export class Weights {
  readonly #layers = new Map<string, Weight>();

  get(digest: string): Weight | undefined {
    const weight = this.#layers.get(digest);
    if (weight !== undefined) this.note(digest, weight);
    return weight;
  }

  note(digest: string, weight: Weight): void {
    this.#layers.delete(digest);
    this.#layers.set(digest, weight);
    const [oldest] = this.#layers.keys();
    if (this.#layers.size > MAX_LAYERS && oldest !== undefined) this.#layers.delete(oldest);
  }
}
