import { type ChainClient, latestHandIn } from "../../../client/index.ts";
import { unlessAborted } from "../../../util/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { ExitError } from "../../errors.ts";
import { interruptible, tellInterrupted } from "../../terminal/interruptible.ts";
import { placeFlags } from "./print.ts";

/** Where an interruption leaves a transaction. */
export interface OnItsWay {
  readonly text: string;
  readonly isIncluded: boolean;
  /** The command that looks for it. */
  readonly hint: string;
}

const SENTENCES = {
  sending: "may have been sent",
  sent: "was sent and may still be included",
  included: "is in a block",
};

/** The transaction that was handed in last; undefined if there is none, or the node refused it. */
export function onItsWay(chain: ChainClient, { flags }: Pick<CommandInput, "flags">): OnItsWay | undefined {
  const handIn = latestHandIn(chain);
  if (handIn === undefined) return undefined;
  const { hash, state } = handIn;
  const hint = `svc query tx ${hash}${placeFlags(flags)}`;
  return { text: `transaction ${hash} ${SENTENCES[state]}`, isIncluded: state === "included", hint };
}

/**
 * Hands a transaction in and waits for it. An interruption ends the command at once, and tells whether the transaction
 * is on its way.
 */
export function untilInterrupted<T>(
  input: Pick<CommandInput, "flags" | "io">,
  chain: ChainClient,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(async (signal) => {
    try {
      return await unlessAborted(work(signal), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const { text, hint } = onItsWay(chain, input) ?? { text: "nothing was sent", hint: undefined };
      throw new ExitError(tellInterrupted(input.io, `${text}: interrupted`, hint));
    }
  });
}
