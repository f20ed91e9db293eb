import type { DeploymentRecord, PaidLease } from "../../client/index.ts";
import type { IntCoin } from "../../util/index.ts";
import { closeDeployment, depositDeployment } from "../chain/messages.ts";
import type { Journal } from "../session/journal.ts";
import type { CommittedMessages, Market } from "../session/market.ts";

/** How a deployment's money was divided. */
export interface CloseResult {
  readonly dseq: string;
  readonly height: string;
  readonly txhash: string;
  /** Each provider's total earnings from the deployment. */
  readonly paid: readonly { readonly provider: string; readonly amount: IntCoin }[];
  /** Refund to the depositors at the close. */
  readonly returned: IntCoin;
}

/** Adds coins of the owner to the money of a deployment. Rejects with the chain's error if it is closed. */
export function topUp(market: Market, dseq: bigint, amount: IntCoin): Promise<CommittedMessages> {
  return market.send([depositDeployment({ owner: market.owner, dseq }, amount)]);
}

/** Closes a deployment and reports where its money went. */
export async function closeAndSettle(
  { market, journal }: { readonly market: Market; readonly journal: Journal },
  before: DeploymentRecord,
): Promise<CloseResult> {
  const { dseq } = before;
  const { hash, height } = await market.send([closeDeployment({ owner: market.owner, dseq })]);
  const [after, leases] = await Promise.all([market.deployment(dseq), market.leases(dseq)]);
  journal.remove(dseq);
  const denom = before.escrow?.denom ?? "";
  return {
    dseq: dseq.toString(),
    height: height.toString(),
    txhash: hash,
    paid: paidTo(leases, denom),
    returned: { denom, amount: moneyIn(before) - (after?.escrow?.transferred ?? 0n) },
  };
}

/** Deposits minus refunds: remaining and earned money. */
function moneyIn({ escrow }: DeploymentRecord): bigint {
  return escrow === undefined ? 0n : escrow.balance + escrow.transferred;
}

/** Providers in the order in which they had leases. */
function paidTo(leases: readonly PaidLease[], denom: string): CloseResult["paid"] {
  const sums = new Map<string, bigint>();
  for (const { id, payment } of leases) sums.set(id.provider, (sums.get(id.provider) ?? 0n) + payment.withdrawn);
  return [...sums].map(([provider, amount]) => ({ provider, amount: { denom, amount } }));
}
