import {
  type ChainClient,
  type MarketReader,
  marketReader,
  type NodeStatus,
  type ProviderRecord,
} from "../../../client/index.ts";
import { errorText } from "../../../util/index.ts";
import { type Check, Fault, Unknown } from "./finding.ts";

/** Facts that several checks need, each asked for once. They reject with `Unknown` where the chain cannot be queried. */
export interface ChainFacts {
  readonly chain: ChainClient;
  readonly market: MarketReader;
  status(): Promise<NodeStatus>;
  record(): Promise<ProviderRecord>;
}

/** The chain's facts about a provider. */
export function chainFacts(chain: ChainClient, provider: () => Promise<string>): ChainFacts {
  const market = marketReader(chain.query);
  let status: Promise<NodeStatus> | undefined;
  let record: Promise<ProviderRecord> | undefined;
  const find = async (): Promise<ProviderRecord> => {
    const found = await asked(market.provider(await provider()));
    if (found === undefined) throw new Unknown("the account is not registered as a provider");
    return found;
  };
  return {
    chain,
    market,
    status: () => {
      status ??= chain.node.status();
      return status;
    },
    record: () => {
      record ??= find();
      return record;
    },
  };
}

/** The check of the node says why it does not answer. */
export async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Unknown || error instanceof Fault) throw error;
    throw new Unknown(`the chain cannot be queried: ${errorText(error)}`);
  }
}

/** Seconds that the time of a block may lie before and behind the clock of this machine. */
export const CLOCK_BEHIND_S = 5;
export const CLOCK_AHEAD_S = 120;

/** Whether the node answers, for the right chain, and has caught up. */
export function nodeCheck({ chain, status }: ChainFacts): Check {
  return {
    name: "node",
    fix: "start it, or name another one with --node",
    async look() {
      const [{ chainId, latestHeight, catchingUp }, wanted] = await Promise.all([status(), chain.chainId()]);
      if (chainId !== wanted)
        throw new Fault(`it serves ${chainId}, not ${wanted}`, "name a node of your chain with --node");
      if (catchingUp)
        throw new Fault(
          `it is catching up, at height ${latestHeight}`,
          "wait until it has caught up, or name another one",
        );
      return `${chainId} at height ${latestHeight}`;
    },
  };
}

/** Whether the clock of this machine agrees with the last block. `now`: milliseconds since 1970. */
export function clockCheck({ status }: ChainFacts, now: () => number): Check {
  return {
    name: "clock",
    fix: "set it by network time: timedatectl set-ntp true",
    async look() {
      const { latestTime } = await asked(status());
      const seconds = Math.round((now() - Date.parse(latestTime)) / 1000);
      if (Number.isNaN(seconds)) throw new Unknown("the node reports no time");
      if (seconds < -CLOCK_BEHIND_S) throw new Error(`it is ${-seconds} s behind the last block`);
      if (seconds > CLOCK_AHEAD_S) {
        const fix =
          "if the clock is right, the node or the chain has stopped; otherwise set it: timedatectl set-ntp true";
        throw new Fault(`the last block is ${seconds} s old by this clock`, fix);
      }
      return `${seconds} s after the last block`;
    },
  };
}

/** Whether the account is a provider on the chain. */
export function recordCheck({ market }: ChainFacts, provider: () => Promise<string>): Check {
  return {
    name: "registration",
    fix: "register it: svc tx provider create <file> --from <key> --fees 5000utoken",
    async look() {
      const address = await provider();
      const record = await asked(market.provider(address));
      if (record === undefined) throw new Error(`${address} is not a provider`);
      return `${address} at ${record.hostUri}`;
    },
  };
}
