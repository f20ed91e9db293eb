import type { OrderRecord, ProviderRecord } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import { formatOrderId } from "../../wire/index.ts";
import type { BidRefusal, TenantGateway } from "../session/gateway.ts";
import { hostOf } from "../session/offer.ts";
import type { ProviderRefusal } from "../session/progress.ts";
import type { Session } from "../session/session.ts";

/** Why a provider has not bid, and the tenant's remedy. */
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
    const remedy = answers.find(({ refusal }) => refusal?.reason === reason)?.refusal?.remedy;
    return {
      provider,
      reason: reason ?? "it has not decided about the order yet",
      refused: refused.map(({ order }) => order),
      ...(remedy === undefined ? {} : { remedy }),
    };
  });
}

/** An order that can get no bid: every provider has refused it for good. */
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

/** The same for programs. */
export function refusalOf({ provider, reason, remedy }: Silence): ProviderRefusal {
  return { provider: provider.address, reason, ...(remedy === undefined ? {} : { remedy }) };
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

/** The message if there is no provider that could bid. */
export const NO_PROVIDERS =
  "no provider is registered on this chain: start one with svc provider run, or use svc localnet, which has one\n";

export function orderNames(orders: readonly OrderRecord[]): string {
  return orders.map(({ id }) => `order/${formatOrderId(id)}`).join(", ");
}
