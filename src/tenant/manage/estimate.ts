import type { GatewayClient, ProviderRecord, Screening } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";

/** A provider's answer about a group: the price per block that it would bid, or the reason why it would not. */
export interface GroupEstimate {
  readonly group: string;
  readonly provider: ProviderRecord;
  readonly screening: Screening;
  /** Why the provider could not be asked: whether it would bid is not known then. */
  readonly error?: unknown;
}

/** The providers to ask, and how. */
export interface EstimateOptions {
  readonly providers: readonly ProviderRecord[];
  /** Opens the gateway of a provider; no credential is needed. Throws if it cannot be reached from here. */
  readonly gateway: (provider: ProviderRecord) => Pick<GatewayClient, "screen">;
  /** Called with each answer as it comes. */
  readonly onAnswer?: (estimate: GroupEstimate) => void;
  /** Questions at the same time; 20 unless given. */
  readonly atOnce?: number;
  /** Ends it: no further provider is asked. */
  readonly signal?: AbortSignal;
}

/** Providers asked at the same time: some may be gone, and each takes its time. */
const MOST_ASKED = 20;

/**
 * Asks every provider whether it would bid on the groups of a deployment, before anything is signed or paid. Bids come first,
 * the cheapest of each group before the others. A provider that cannot be asked would not bid; never rejects for one.
 */
export async function estimate(
  groups: readonly GroupSpec[],
  { providers, gateway, onAnswer = () => {}, atOnce = MOST_ASKED, signal }: EstimateOptions,
): Promise<readonly GroupEstimate[]> {
  const questions = groups.flatMap((group) => providers.map((provider) => ({ group, provider })));
  const answers: GroupEstimate[] = [];
  const ask = async (): Promise<void> => {
    for (let next = questions.shift(); next !== undefined && signal?.aborted !== true; next = questions.shift()) {
      const { group, provider } = next;
      const answer = { group: group.name, provider, ...(await screening(gateway, provider, group)) };
      answers.push(answer);
      onAnswer(answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  const order = groups.map(({ name }) => name);
  return answers.sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group) || byPrice(a, b));
}

async function screening(
  gateway: EstimateOptions["gateway"],
  provider: ProviderRecord,
  group: GroupSpec,
): Promise<Pick<GroupEstimate, "screening" | "error">> {
  try {
    return { screening: await gateway(provider).screen(group) };
  } catch (error) {
    return { screening: { bid: false, reason: `its gateway does not say: ${errorText(error)}` }, error };
  }
}

function byPrice(a: GroupEstimate, b: GroupEstimate): number {
  const [one, other] = [a.screening, b.screening];
  if (!one.bid || !other.bid)
    return Number(other.bid) - Number(one.bid) || compare(a.provider.address, b.provider.address);
  return compare(one.price.amount, other.price.amount) || compare(a.provider.address, b.provider.address);
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}
