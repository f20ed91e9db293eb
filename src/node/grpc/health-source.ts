/** The chain as far as its health shows it: whether there is a block, and the first one. */
export interface HealthSource {
  status(): Promise<{ readonly latest: unknown }> | { readonly latest: unknown };
  readonly events: { listen(told: () => void): () => void };
}
