import { randomInt } from "node:crypto";
import { claim } from "./ports.ts";

const TRIES = 10_000;

/**
 * A range `10.N.0.0/16` of this process's own, for the networks of a container engine: two engines that took one range would
 * give one address to two containers. N is 90 to 199; networks of other tests have other numbers.
 */
export function ownRange(): string {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const second = 90 + randomInt(110);
    if (claim(second)) return `10.${second}.0.0/16`;
  }
  throw new Error("all networks of test engines are taken");
}
