import type { BidChoice, BidPolicy, DeployRequest } from "../../tenant/index.ts";
import { parseCoin, parseDecCoin, tryParseInt } from "../../util/index.ts";
import { isAddress } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { inFlag } from "../command/in-flag.ts";
import { usageError } from "../errors.ts";
import { durationFlag } from "../values/duration.ts";

/** The flags of `svc deploy` about bids and waits. */
export function readRequest(
  flags: Flags,
  isAsked: boolean,
): Pick<DeployRequest, "policy" | "bidWindow" | "timeoutMs" | "fresh" | "deposit"> {
  const deposit = flags.optional("deposit");
  return {
    policy: readPolicy(flags, isAsked),
    bidWindow: flags.uint("bid-window"),
    timeoutMs: readTimeout(flags),
    fresh: flags.bool("new"),
    ...(deposit === undefined ? {} : { deposit: inFlag(flags, "deposit", () => parseCoin(deposit)) }),
  };
}

export function readTimeout(flags: Flags): number {
  return durationFlag(flags, "timeout");
}

/** `--bid` and `--max-price`, which may end in `/block`. */
function readPolicy(flags: Flags, isAsked: boolean): BidPolicy {
  const choice = readChoice(flags.optional("bid"), isAsked);
  const maxPrice = flags.optional("max-price")?.replace(/\/block$/, "");
  return maxPrice === undefined
    ? { choice }
    : { choice, maxPrice: inFlag(flags, "max-price", () => parseDecCoin(maxPrice)) };
}

function readChoice(bid: string | undefined, isAsked: boolean): BidChoice {
  if (bid === undefined) return { kind: isAsked ? "ask" : "cheapest" };
  if (bid === "cheapest") return { kind: "cheapest" };
  if (isAddress(bid)) return { kind: "provider", address: bid };
  const hint = "list the providers: svc query provider list";
  throw usageError(`--bid takes cheapest or the address of a provider, not "${bid.slice(0, 80)}"`, hint);
}

/** `--dseq`, or the number given as an argument; undefined if both were left out. */
export function readDseq(flags: Flags, argument?: string): bigint | undefined {
  if (argument === undefined && !flags.given("dseq")) return undefined;
  const dseq = argument === undefined ? flags.uint("dseq") : (tryParseInt(argument) ?? 0n);
  if (dseq <= 0n) {
    const name = argument === undefined ? flags.label("dseq") : `"${argument.slice(0, 64)}"`;
    throw usageError(`${name}: the number of a deployment is 1 or more`, "see yours: svc deploy ps");
  }
  if (argument !== undefined && flags.given("dseq") && dseq !== flags.uint("dseq")) {
    throw usageError(`the argument says deployment ${dseq}, --dseq says ${flags.uint("dseq")}`);
  }
  return dseq;
}
