import type { CloseResult } from "../../tenant/index.ts";
import { formatCoin, type IntCoin } from "../../util/index.ts";

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
