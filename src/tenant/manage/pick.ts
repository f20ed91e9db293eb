import type { DeploymentRecord, LeaseRecord, ProviderRecord } from "../../client/index.ts";
import { deployErrors } from "../session/errors.ts";
import type { OpenGateway } from "../session/gateway.ts";
import type { Journal } from "../session/journal.ts";
import { activeLeases, type Market } from "../session/market.ts";

/** The deployment of a number, or the only active one. */
export async function pickDeployment(
  { market, journal }: { readonly market: Market; readonly journal: Journal },
  dseq: bigint | undefined,
): Promise<DeploymentRecord> {
  if (dseq !== undefined) return byNumber(market, dseq);
  const active = await market.deployments("active");
  const [only, ...others] = active;
  if (only === undefined) {
    throw deployErrors.noDeployment(`${market.owner} has no active deployment`, { hint: "make one: svc deploy FILE" });
  }
  if (others.length === 0) return only;
  const files = new Map(journal.entries(market.owner, market.chainId).map((entry) => [entry.dseq, entry.file]));
  throw deployErrors.severalDeployments(active.map((each) => describe(each, files.get(each.dseq))).join(", "));
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

function describe({ dseq, groups }: DeploymentRecord, file: string | undefined): string {
  return `${dseq} (${file === undefined ? groups.map(({ spec }) => spec.name).join(", ") : file.slice(file.lastIndexOf("/") + 1)})`;
}

/** A running lease with its provider. */
export interface ServiceLease {
  readonly lease: LeaseRecord;
  readonly provider: ProviderRecord;
}

/** The running leases of a deployment that have the service, or all leases; at least one. */
export async function serviceLeases(
  {
    market,
    openGateway,
    journal,
  }: { readonly market: Market; readonly openGateway: OpenGateway; readonly journal: Journal },
  dseq: bigint | undefined,
  service: string | undefined,
): Promise<readonly ServiceLease[]> {
  const deployment = await pickDeployment({ market, journal }, dseq);
  const active = activeLeases(await market.leases(deployment.dseq));
  await market.confirmLeases(active);
  const found = await Promise.all(active.map(withProvider));
  const leases = found.flat();
  const what = `deployment ${deployment.dseq}`;
  if (leases.length === 0) throw deployErrors.noLease(what, { hint: "see its state: svc deploy ps" });
  if (service === undefined) return leases;
  const named = await Promise.all(leases.map(async (each) => ({ each, names: await serviceNames(each) })));
  const having = named.filter(({ names }) => names.includes(service)).map(({ each }) => each);
  if (having.length > 0) return having;
  const names = named.flatMap((each) => each.names).join(", ");
  throw deployErrors.noService(`${what} has ${names || "no service yet"}, not ${service}`);

  async function withProvider(lease: LeaseRecord): Promise<ServiceLease[]> {
    const provider = await market.provider(lease.id.provider);
    return provider === undefined ? [] : [{ lease, provider }];
  }

  async function serviceNames({ lease, provider }: ServiceLease): Promise<readonly string[]> {
    return (await openGateway(provider).status(lease.id))?.services.map(({ name }) => name) ?? [];
  }
}
