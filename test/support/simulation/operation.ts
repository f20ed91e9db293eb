import type { DescMethod, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

/** Numbers from a seed: the same seed gives the same run. */
export interface SimRandom {
  /** From 0 to below `below`. */
  int(below: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  pick<T>(list: readonly T[]): T | undefined;
}

/** View of the chain for the operations of every module. */
export interface Simulation {
  readonly random: SimRandom;
  /** Height of the last block. */
  height(): bigint;
  query<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): MessageShape<M["output"]>;
}

/** A message that an operation wants to send. The chain may refuse it. */
export interface SimAction {
  /** bech32 */
  readonly signer: string;
  readonly message: Message;
}

/** One kind of thing that people do; `build` returns undefined if there is nothing to do it to. */
export interface SimOperation<S extends Simulation = Simulation> {
  readonly name: string;
  readonly weight: number;
  build(sim: S): SimAction | undefined;
}

/** A generator of 32-bit numbers (splitmix32). */
export function simRandom(seed: number): SimRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const int = (below: number): number => next() % below;
  function pick<T>(list: readonly [T, ...T[]]): T;
  function pick<T>(list: readonly T[]): T | undefined;
  function pick<T>(list: readonly T[]): T | undefined {
    return list.length === 0 ? undefined : list[int(list.length)];
  }
  return { int, pick };
}

/** Draws an operation by its weight. */
export function pickOperation<S extends Simulation>(
  operations: readonly SimOperation<S>[],
  random: SimRandom,
): SimOperation<S> | undefined {
  let left = random.int(operations.reduce((sum, { weight }) => sum + weight, 0));
  return operations.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
}
