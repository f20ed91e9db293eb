import { sdkErrors } from "../util/index.ts";

/** Counts the gas of one transaction. Exceeding the limit throws `sdk/11`. */
export interface GasMeter {
  readonly limit: bigint;
  readonly used: bigint;
  /** `descriptor` names what the gas was for; it ends up in the out-of-gas text. */
  consume(amount: bigint, descriptor: string): void;
}

/** A meter that never refuses: block processing, queries, simulation. */
export function infiniteGas(): GasMeter {
  return makeMeter(undefined);
}

export function limitedGas(limit: bigint): GasMeter {
  return makeMeter(limit);
}

function makeMeter(limit: bigint | undefined): GasMeter {
  let used = 0n;
  return {
    limit: limit ?? 0n,
    get used() {
      return used;
    },
    consume(amount, descriptor) {
      used += amount;
      if (limit !== undefined && used > limit) {
        throw sdkErrors.outOfGas(`out of gas in location: ${descriptor}; gasWanted: ${limit}, gasUsed: ${used}`);
      }
    },
  };
}
