import type { BidRecord } from "../../client/index.ts";
import { deployErrors, type Offer, type Questions } from "../../tenant/index.ts";
import { EXIT, formatDecCoin } from "../../util/index.ts";
import { ExitError } from "../errors.ts";
import type { Io } from "../terminal/io.ts";

const MAX_TRIES = 3;

/** Questions on the terminal. */
export function terminalQuestions(io: Io): Questions {
  return {
    confirm: (text) => io.confirm(text),
    choose: (group, offers) => choose(io, group, offers),
  };
}

async function choose(io: Io, group: string, offers: readonly Offer[]): Promise<BidRecord> {
  const [best] = offers;
  if (best === undefined) throw deployErrors.noBids(`group ${group}`);
  const names = offers.map(({ bid }) => `${formatDecCoin(bid.price)} from ${bid.id.provider}`);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = (
      await io.ask(`Bid for ${group}: 1 to ${offers.length}, Enter for 1 (${names[0]}), q to stop`)
    ).trim();
    if (answer.toLowerCase() === "q") throw deployErrors.interrupted();
    const taken = answer === "" ? best : offers[Number(/^\d{1,3}$/.test(answer) ? answer : Number.NaN) - 1];
    if (taken !== undefined) return taken.bid;
    io.err(`"${answer.slice(0, 20)}" is not a number from 1 to ${offers.length}\n`);
  }
  throw new ExitError(EXIT.usage);
}
