import { errorText, type Logger } from "../../util/index.ts";
import type { ChainView } from "../chain.ts";
import type { Meter } from "../metrics/index.ts";
import { type Outbox, type OutMessage, withdrawMessages } from "../outbox/index.ts";

export interface EarningsOptions {
  readonly provider: string;
  readonly chain: Pick<ChainView, "activeLeases">;
  readonly outbox: Pick<Outbox, "send">;
  readonly meter: Meter;
  readonly log: Logger;
}

/** Collects what all leases have earned. Never rejects: the next time collects what this one did not. */
export async function withdrawEarnings(options: EarningsOptions): Promise<void> {
  const { provider, chain, log } = options;
  const warn = (error: unknown) => log.warn("earnings not withdrawn", { err: errorText(error) });
  try {
    const leases = await chain.activeLeases({ provider });
    const messages = withdrawMessages(
      provider,
      leases.map(({ id }) => id),
    );
    await Promise.all(messages.map((each) => sendWithdrawal(each, options).catch(warn)));
  } catch (error) {
    warn(error);
  }
}

async function sendWithdrawal(message: OutMessage, { outbox, meter }: EarningsOptions): Promise<void> {
  try {
    await outbox.send(message, "withdraw");
    meter.count("withdrawal", { result: "success" });
  } catch (error) {
    meter.count("withdrawal", { result: "fail" });
    throw error;
  }
}
