import { sdkErrors } from "../../util/index.ts";

/** Counts the gas of one transaction. Exceeding the limit throws `sdk/11`. */
export interface GasMeter {
  readonly limit: bigint;
  readonly used: bigint;
  /** `descriptor` names what the gas was for; it ends up in the out-of-gas text. */
  consume(amount: bigint, descriptor: string): void;
}

/** A meter that never refuses: block processing, queries, simulation. */
export function infiniteGas(): GasMeter {
  return new Meter(undefined);
}

export function limitedGas(limit: bigint): GasMeter {
  return new Meter(limit);
}

/** A meter that calls `watch` whenever gas is consumed: what it throws ends the work in the middle of a message. */
export function watchedGas(meter: GasMeter, watch: () => void): GasMeter {
  return {
    limit: meter.limit,
    get used() {
      return meter.used;
    },
    consume(amount, descriptor) {
      watch();
      meter.consume(amount, descriptor);
    },
  };
}

/**
 * A meter with prepaid gas: consumption uses that up first, then `percent` of the rest is consumed from the other
 * meter.
 */
export function prepaidGas(meter: GasMeter, prepaid: bigint, percent = 100n): GasMeter {
  let left = prepaid;
  return {
    limit: meter.limit,
    get used() {
      return meter.used;
    },
    consume(amount, descriptor) {
      const beyond = amount - left;
      left = beyond < 0n ? -beyond : 0n;
      if (beyond > 0n) meter.consume((beyond * percent) / 100n, descriptor);
    },
  };
}

/** A class, because V8 takes long to make an object with a getter of its own: every query has a meter. */
class Meter implements GasMeter {
  readonly limit: bigint;
  readonly #isLimited: boolean;
  #used = 0n;

  constructor(limit: bigint | undefined) {
    this.limit = limit ?? 0n;
    this.#isLimited = limit !== undefined;
  }

  get used(): bigint {
    return this.#used;
  }

  consume(amount: bigint, descriptor: string): void {
    this.#used += amount;
    if (this.#isLimited && this.#used > this.limit) {
      const text = `out of gas in location: ${descriptor}; gasWanted: ${this.limit}, gasUsed: ${this.#used}`;
      throw sdkErrors.outOfGas(text);
    }
  }
}

/** Gas that the transactions of one block have used together. */
export class BlockGas {
  readonly #limit: bigint;
  #used = 0n;

  /** A negative limit means no limit. */
  constructor(limit: bigint) {
    this.#limit = limit;
  }

  /** Whether nothing is left for another transaction. */
  get isSpent(): boolean {
    return this.#limit >= 0n && this.#used >= this.#limit;
  }

  /** Counts what a transaction used, even if it is too much; answers whether it was within the limit. */
  add(gas: bigint): boolean {
    this.#used += gas;
    return this.#limit < 0n || this.#used <= this.#limit;
  }
}

/** For a transaction that begins when the block has no gas left: none of it runs, and it pays nothing. */
export function noBlockGasLeft(): Error {
  return sdkErrors.outOfGas("no block gas left to run tx");
}

/** For a transaction whose own gas exceeds what the block has left: its messages are undone, and it pays. */
export function beyondBlockGas(wanted: bigint, used: bigint): Error {
  return sdkErrors.outOfGas(`out of gas in location: block gas meter; gasWanted: ${wanted}, gasUsed: ${used}`);
}
