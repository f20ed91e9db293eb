import * as v from "valibot";
import type { MarketReader } from "../../client/index.ts";
import { changePrices, type OperatorFacts, readOperatorFacts, tryPrices } from "../../provider/index.ts";
import { printable } from "../../util/index.ts";
import { commandError } from "../errors.ts";
import { type OwnCall, ownCall, Refusal, readBody, requireConsent } from "./calls.ts";
import { MAX_ORDERS } from "./limits.ts";
import type { Questions } from "./questions.ts";

export interface OperatorParts {
  /** Home of the provider. */
  readonly home: string;
  readonly market: Pick<MarketReader, "leases">;
  readonly questions: Pick<Questions, "ask">;
}

/** Prices by the names of their flags; the provider knows the names. */
const prices = v.record(v.pipe(v.string(), v.maxLength(50)), v.pipe(v.string(), v.maxLength(1_000)));
const UNAVAILABLE = 503;

/** The provider that runs in a home; throws one sentence if none does. */
export async function requireProvider({ home }: Pick<OperatorParts, "home">): Promise<OperatorFacts> {
  const facts = await readOperatorFacts(home);
  if (facts !== undefined) return facts;
  throw commandError(`no provider runs in ${home}`, { hint: "start it first: svc provider run --help" });
}

function absent(home: string): Refusal {
  return new Refusal(UNAVAILABLE, `no provider runs in ${home}: start it with svc provider run`);
}

/** Calls of an operator's page: facts of the provider, and a change of its prices that the user has agreed to. */
export function operatorCalls({ home, market, questions }: OperatorParts): readonly (readonly [string, OwnCall])[] {
  const facts = ownCall("GET", UNAVAILABLE, async () => {
    const found = await readOperatorFacts(home, market);
    if (found === undefined) throw absent(home);
    const orders = found.orders.slice(-MAX_ORDERS);
    return { ...found, orders, omitted: found.omitted + found.orders.length - orders.length };
  });
  const change = ownCall("POST", 400, async (body, signal) => {
    const wanted = readBody(prices, body);
    const text = `The console asks to change prices of the provider in ${home}:\n${JSON.stringify(wanted)}`;
    requireConsent(await questions.ask(printable(text), signal));
    if (await changePrices(home, wanted)) return {};
    throw absent(home);
  });
  const attempt = ownCall("POST", 400, async (body) => {
    const bids = await tryPrices(home, readBody(prices, body));
    if (bids === undefined) throw absent(home);
    return bids;
  });
  return [
    ["provider", facts],
    ["provider/prices/try", attempt],
    ["provider/prices", change],
  ];
}
