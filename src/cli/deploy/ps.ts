import type { DeploymentLine } from "../../tenant/index.ts";
import { formatCoin, printable, textTable } from "../../util/index.ts";

const HEADINGS = ["DSEQ", "STATE", "SERVICES", "PER BLOCK", "PER MONTH", "BALANCE", "UNTIL", "ADDRESSES"] as const;

export function psTable(lines: readonly DeploymentLine[]): string {
  return textTable([HEADINGS, ...lines.map((line) => psRow(line).map(printable))]);
}

function psRow(line: DeploymentLine): string[] {
  const services = line.services.map(({ name, available, total }) => `${name} ${available}/${total}`);
  return [
    line.dseq,
    line.state,
    services.join(" ") || "-",
    line.price.amount === "" ? "-" : line.price.amount + line.price.denom,
    line.price_per_month || "-",
    formatCoin(line.balance),
    line.until || "-",
    [...line.uris, ...line.ports].join(" ") || "-",
  ];
}
