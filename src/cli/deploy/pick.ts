import { deployErrors } from "./errors.ts";
import type { DeploymentRecord, Market } from "./market.ts";

/** The deployment of a number, or the only active one. */
export async function pickDeployment(market: Market, dseq: bigint | undefined): Promise<DeploymentRecord> {
  if (dseq !== undefined) return byNumber(market, dseq);
  const active = await market.deployments("active");
  const [only, ...others] = active;
  if (only === undefined) {
    throw deployErrors.noDeployment(`${market.owner} has no active deployment`, { hint: "make one: svc deploy FILE" });
  }
  if (others.length === 0) return only;
  throw deployErrors.severalDeployments(active.map(describe).join(", "));
}

async function byNumber(market: Market, dseq: bigint): Promise<DeploymentRecord> {
  const found = await market.deployment(dseq);
  if (found === undefined) {
    throw deployErrors.noDeployment(`${market.owner} has no deployment ${dseq}`, { hint: "list them: svc deploy ps" });
  }
  if (found.state === "closed")
    throw deployErrors.closed(`deployment ${dseq}`, { hint: "list the others: svc deploy ps" });
  return found;
}

function describe({ dseq, groups }: DeploymentRecord): string {
  return `${dseq} (${groups.map(({ spec }) => spec.name).join(", ")})`;
}
