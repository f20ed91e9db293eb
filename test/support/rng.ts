/** Random numbers from a seed (splitmix32), so that a run can be repeated. */
export class Rng {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }
}

/** The seed that a variable asks for, else a new one; printed on standard error, with the way to repeat the run. */
export function seedFrom(variable: string): Rng {
  const given = process.env[variable];
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
  process.stderr.write(`seed ${seed} (repeat with ${variable}=${seed})\n`);
  return new Rng(seed);
}
