import { rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { errorText, type Logger, readFileText, replaceFile, tryJson } from "../../util/index.ts";
import { parseScales, scalePricing } from "./scale.ts";
import type { PriceRequest, PricingStrategy, ScaleFlags } from "./strategy.ts";

/** Changed prices inside the provider's folder, with the settings that they replace. */
const FILE = "prices.json";
const MAX_FILE = 16 << 10;

const price = v.pipe(v.string(), v.maxLength(500));
/** Prices of a change, as in the flags; prices that are left out stay. */
export const priceChange = v.strictObject({
  cpu: v.exactOptional(price),
  memory: v.exactOptional(price),
  storage: v.exactOptional(price),
  endpoint: v.exactOptional(price),
  ip: v.exactOptional(price),
  tokenUsd: v.exactOptional(price),
});
export type PriceChange = v.InferOutput<typeof priceChange>;

const NAMES = ["cpu", "memory", "storage", "endpoint", "ip", "tokenUsd"] as const;

const kept = v.object({ settings: priceChange, prices: priceChange });

export interface PricesOptions {
  /** The strategy of the settings. */
  readonly configured: PricingStrategy;
  /** The provider's folder. */
  readonly folder: string;
  readonly log: Logger;
}

/** Prices that the operator can change while the provider runs. A change holds until the settings of prices change. */
export class ChangeablePrices implements PricingStrategy {
  readonly #options: PricesOptions;
  #current: PricingStrategy;

  constructor(options: PricesOptions) {
    this.#options = options;
    this.#current = this.#restored() ?? options.configured;
  }

  get description(): string {
    return this.#current.description;
  }

  get flags(): ScaleFlags | undefined {
    return this.#current.flags;
  }

  price(request: PriceRequest): Promise<bigint> {
    return this.#current.price(request);
  }

  /** The strategy that a change would make. Throws one sentence if the prices cannot be. */
  changed(change: PriceChange): PricingStrategy {
    const { flags } = this;
    if (flags === undefined) throw new Error("only the prices of --bid-price-strategy scale can be changed");
    return priced({ ...flags, ...change });
  }

  /** New bids have these prices; open ones keep theirs. Throws one sentence if they cannot be. */
  change(change: PriceChange): void {
    const { configured, folder, log } = this.#options;
    this.#current = this.changed(change);
    const kept = { settings: configured.flags, prices: this.#current.flags };
    replaceFile(join(folder, FILE), JSON.stringify(kept));
    log.info("pricing", { strategy: this.description });
  }

  /** Prices of an earlier run, unless the settings have changed since. A file that cannot be read is as none. */
  #restored(): PricingStrategy | undefined {
    const { configured, folder, log } = this.#options;
    const path = join(folder, FILE);
    const text = readText(path);
    if (text === undefined || configured.flags === undefined) return undefined;
    try {
      const { settings, prices } = v.parse(kept, tryJson(text));
      if (!sameFlags(settings, configured.flags)) {
        log.info("the settings of prices have changed: they replace the changed prices");
        rmSync(path, { force: true });
        return undefined;
      }
      return priced({ ...configured.flags, ...prices });
    } catch (error) {
      log.warn("changed prices cannot be read, those of the settings are in force", { path, err: errorText(error) });
      return undefined;
    }
  }
}

function priced(flags: ScaleFlags): PricingStrategy {
  return scalePricing(parseScales(flags), flags);
}

function sameFlags(one: PriceChange, other: ScaleFlags): boolean {
  return NAMES.every((name) => (one[name] ?? "") === (other[name] ?? ""));
}

function readText(path: string): string | undefined {
  try {
    return readFileText(path, { maxBytes: MAX_FILE });
  } catch {
    return undefined;
  }
}
