import { formatCoin, type IntCoin } from "../../util/index.ts";
import type { Journal } from "./journal.ts";
import type { DeploymentRecord, LeaseRecord, Market } from "./market.ts";
import { closeDeployment } from "./messages.ts";

/** Who got what of a deployment's money. */
export interface CloseResult {
  readonly dseq: string;
  readonly height: string;
  readonly txhash: string;
  /** What each provider was paid over the whole life of the deployment. */
  readonly paid: readonly { readonly provider: string; readonly amount: IntCoin }[];
  /** What came back to the depositors with the close. */
  readonly returned: IntCoin;
}

/** Closes a deployment and tells what became of its money. */
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

/** Deposits minus refunds: what is left and what was earned. */
function moneyIn({ escrow }: DeploymentRecord): bigint {
  return escrow === undefined ? 0n : escrow.balance + escrow.transferred;
}

/** Providers in the order in which they had leases. */
function paidTo(leases: readonly LeaseRecord[], denom: string): CloseResult["paid"] {
  const sums = new Map<string, bigint>();
  for (const { id, withdrawn } of leases) sums.set(id.provider, (sums.get(id.provider) ?? 0n) + withdrawn);
  return [...sums].map(([provider, amount]) => ({ provider, amount: { denom, amount } }));
}

export function closeText({ dseq, height, paid, returned }: CloseResult): string {
  const payments = paid.map(({ provider, amount }) => `paid      ${formatCoin(amount)} to ${provider}\n`);
  return `closed    deployment ${dseq} in block ${height}\n${payments.join("")}returned  ${formatCoin(returned)}\n`;
}

/** The JSON form: amounts are texts. */
export function closeJson(result: CloseResult): object {
  const coin = ({ denom, amount }: IntCoin) => ({ denom, amount: amount.toString() });
  const paid = result.paid.map(({ provider, amount }) => ({ provider, amount: coin(amount) }));
  return { ...result, paid, returned: coin(result.returned) };
}
