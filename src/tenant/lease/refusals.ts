import type { OrderRecord, ProviderRecord } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import { formatOrderId } from "../../wire/index.ts";
import type { BidRefusal, TenantGateway } from "../session/gateway.ts";
import { hostOf } from "../session/offer.ts";
import type { Session } from "../session/session.ts";

/** Why a provider has not bid, and what the tenant can do about it. */
export interface Silence {
  readonly provider: ProviderRecord;
  readonly reason: string;
  readonly remedy?: string;
  /** Orders on which it will never bid. */
  readonly refused: readonly string[];
}

/** No more providers than this are asked: some may be gone, and we wait for each. */
const MAX_ASKED = 20;

/** Asks the registered providers why they do not bid on the orders. */
export async function askSilence(
  { openGateway }: Session,
  providers: readonly ProviderRecord[],
  orders: readonly OrderRecord[],
): Promise<readonly Silence[]> {
  const asked = providers.slice(0, MAX_ASKED).map(async (provider): Promise<Silence[]> => {
    try {
      return silences(provider, await Promise.all(orders.map((order) => answerOf(openGateway(provider), order))));
    } catch (error) {
      return [{ provider, reason: `its gateway does not answer: ${errorText(error)}`, refused: [] }];
    }
  });
  return (await Promise.all(asked)).flat();
}

interface Answer {
  readonly order: string;
  readonly refusal: BidRefusal | undefined;
}

async function answerOf(gateway: TenantGateway, { id }: OrderRecord): Promise<Answer> {
  return { order: formatOrderId(id), refusal: await gateway.refusal(id) };
}

/** One entry for each reason. */
function silences(provider: ProviderRecord, answers: readonly Answer[]): Silence[] {
  const reasons = [...new Set(answers.map(({ refusal }) => refusal?.reason))];
  return reasons.map((reason) => {
    const refused = answers.filter(({ refusal }) => refusal?.reason === reason && refusal?.isFinal === true);
    const remedy = reason === undefined ? undefined : remedyFor(reason);
    return {
      provider,
      reason: reason ?? "it has not decided about the order yet",
      refused: refused.map(({ order }) => order),
      ...(remedy === undefined ? {} : { remedy }),
    };
  });
}

/** The order that nobody will ever bid on: every provider has refused it for good. */
export function hopelessOrder(
  orders: readonly OrderRecord[],
  providers: readonly ProviderRecord[],
  told: readonly Silence[],
): OrderRecord | undefined {
  return orders.find(({ id }) => {
    const refusing = told.filter(({ refused }) => refused.includes(formatOrderId(id)));
    return providers.every(({ address }) => refusing.some(({ provider }) => provider.address === address));
  });
}

const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [/price .*above/i, "raise the amount under pricing in the deployment file and run the same command again"],
  [/leased ips wanted/i, "ask for fewer leased addresses, or wait until others have ended"],
  [/insufficient capacity/i, "request less cpu, memory, storage or fewer replicas, or wait until others have ended"],
  [/node port/i, "expose fewer ports other than 80"],
  [/attribute tee\/type/i, "remove tee: under params, or wait for a provider of protected machines"],
  [
    /interconnect/i,
    "remove interconnect: of the gpu and the attribute under placement, or wait for a provider that has one",
  ],
  [/requires attribute/i, "change or remove the attribute under placement in the deployment file"],
  [/serves only orders/i, "add that attribute under placement in the deployment file"],
  [/auditor|signature/i, "change or remove signedBy under placement in the deployment file"],
  [/gpu|leased ip|class/i, "request what this provider has, or wait for another provider"],
  [/less memory/i, "write a larger memory.size in the deployment file and run the same command again"],
  [/volumes/i, "use fewer volumes for one service"],
  [
    /network rules/i,
    "the provider's operator has to start it as root; on a localnet of your own, run svc localnet as root",
  ],
  [/last bid/i, "it bids again after a pause: run the same command again, or keep waiting"],
  [/balance|deposit/i, "the provider's operator has to fund its account"],
];

/** What the tenant can do about a provider's reason. */
export function remedyFor(reason: string): string | undefined {
  return REMEDIES.find(([pattern]) => pattern.test(reason))?.[1];
}

/** One or two lines for each provider. */
export function silenceText(silences: readonly Silence[]): string {
  return silences
    .map(({ provider, reason, remedy }) => {
      const advice = remedy === undefined ? "" : `\n    -> ${remedy}`;
      return `  ${provider.address} (${hostOf(provider.hostUri)}): ${reason}${advice}\n`;
    })
    .join("");
}

/** The message when nobody could bid at all. */
export const NO_PROVIDERS =
  "no provider is registered on this chain: start one with svc provider run, or use svc localnet, which has one\n";

export function orderNames(orders: readonly OrderRecord[]): string {
  return orders.map(({ id }) => `order/${formatOrderId(id)}`).join(", ");
}
