import type { SimulationTurn } from "../../app/index.ts";
import { StatusError } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";

/** Time limit of one simulation. It is checked between messages, each of which is short. */
const LONGEST_MS = 1_000;
/** Share of the time that simulations may take in the long run, and the milliseconds that they may save up. */
const SHARE = 0.2;
const SAVED_MS = 2_000;

/**
 * Simulations are free and run on the thread that makes blocks, so all share a part of its time: a client with
 * many slows down only other clients that simulate.
 */
export function simulationTurns(now: () => number = () => performance.now()): SimulationTurn {
  let saved = SAVED_MS;
  let seen = now();
  return (run) => {
    const start = now();
    saved = Math.min(SAVED_MS, saved + (start - seen) * SHARE);
    seen = start;
    if (saved <= 0) throw busy();
    try {
      return run(() => {
        if (now() - start > LONGEST_MS) throw tooLong();
      });
    } finally {
      seen = now();
      saved -= seen - start;
    }
  };
}

/** The code of a full mempool: the condition passes, and clients that know the code try again. */
function busy(): StatusError {
  const text = "this node has reached its limit of simulations: try again in a second, or set the gas";
  return new StatusError("ResourceExhausted", sdkErrors.mempoolFull(text), text);
}

function tooLong(): StatusError {
  const text = `the simulation took more than ${LONGEST_MS} ms: simulate fewer messages at a time, or set the gas`;
  return new StatusError("ResourceExhausted", sdkErrors.invalidRequest(text), text);
}
