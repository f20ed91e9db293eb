import { openCertificate, tenantCredential } from "../../certs/index.ts";
import { type ChainClient, type GatewayClient, type GatewayCredential, queryFault } from "../../client/index.ts";
import { gatewayOf } from "../../tenant/node/index.ts";
import { isOneOf } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type Lease, Lease_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { Query as ProviderQuery } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { formatLeaseId, type LeaseKey, providerErrors, SignMode } from "../../wire/index.ts";
import { type CliContext, createContext } from "../context.ts";
import { commandError, usageError } from "../errors.ts";
import type { Flags } from "../flags.ts";
import { addressFlag } from "../query/ask.ts";
import type { CommandInput } from "../spec.ts";
import { keyringSigner, requireSigningKey } from "../tx/sender.ts";

/** A tenant at the command line. */
export interface TenantSession {
  readonly context: CliContext;
  readonly owner: string;
  readonly chain: ChainClient;
  /** The gateway of a provider, with the tenant's credential. */
  gateway(provider: string): Promise<GatewayClient>;
}

/** Opens the key of `--from` and the way to the chain. */
export async function openTenant(input: CommandInput): Promise<TenantSession> {
  const context = createContext(input);
  checkLeaseFlags(context.flags);
  const sender = await requireSigningKey(context);
  const signer = await keyringSigner(context, sender);
  const chain = await context.chain();
  const { home } = context;
  let made: Promise<GatewayCredential> | undefined;
  const credential = (): Promise<GatewayCredential> => {
    made ??= chooseCredential();
    return made;
  };
  const chooseCredential = async (): Promise<GatewayCredential> => {
    const kind = input.flags.text("auth-type");
    if (kind === "") return tenantCredential({ home, signer });
    if (kind === "mtls") return { kind: "certificate", ...(await openCertificate({ home, kind: "client", signer })) };
    return { kind: "token", account: signer.address, sign: (bytes) => signer.sign(bytes, SignMode.DIRECT) };
  };
  return {
    context,
    owner: sender.address,
    chain,
    gateway: async (provider) => gatewayOf({ chain, credential }, await findProvider(chain, provider)),
  };
}

/** The flags that name a lease, before anybody is asked for it. */
function checkLeaseFlags(flags: Flags): void {
  flags.need("dseq");
  addressFlag(flags, "provider");
  for (const name of ["dseq", "gseq", "oseq"]) {
    if (flags.given(name) && flags.count(name) === 0) {
      throw usageError(`${flags.label(name)}: 0 names nothing, numbers begin at 1`);
    }
  }
}

/** A provider by its address. Throws with the remedy where the chain has none. */
export async function findProvider(chain: ChainClient, address: string) {
  const hint = "see which there are: svc query provider list";
  try {
    const { provider } = await chain.query.call(ProviderQuery.method.provider, { owner: address });
    if (provider !== undefined) return { address, hostUri: provider.hostUri, attributes: provider.attributes };
  } catch (error) {
    const missing = isOneOf([providerErrors.notFound], error);
    if (!missing && queryFault(error) !== "NotFound") throw error;
  }
  throw commandError(`${address} is not a provider`, { hint });
}

/** Active leases of the owner that fit the flags `--dseq`, `--gseq`, `--oseq` and `--provider`. */
export async function activeLeases({ chain, owner, context }: TenantSession): Promise<readonly LeaseKey[]> {
  const { flags } = context;
  const filters = {
    owner,
    dseq: flags.uint("dseq"),
    gseq: flags.count("gseq"),
    oseq: flags.count("oseq"),
    provider: flags.text("provider"),
  };
  const leasesIn = async (state: string): Promise<Lease[]> => {
    const request = { filters: { ...filters, state }, pagination: { limit: 1000n } };
    return (await chain.query.call(MarketQuery.method.leases, request)).leases.flatMap(({ lease }) => lease ?? []);
  };
  const found = (await leasesIn("active")).flatMap(keyOf);
  if (found.length > 0) return found;
  throw noLease(filters, await leasesIn(""));
}

/** Nothing was leased yet, or what was has ended. */
function noLease({ owner, dseq }: Pick<LeaseKey, "owner" | "dseq">, ended: readonly Lease[]): Error {
  const of = `--owner ${owner} --dseq ${dseq}`;
  const last = ended.toSorted((a, b) => Number(a.closedOn - b.closedOn)).at(-1);
  if (last !== undefined) {
    const reason = Closed_Reason[last.closeReason] ?? last.closeReason;
    const text = `the lease of deployment ${dseq} at ${last.leaseId?.provider} ended in block ${last.closedOn} (${reason})`;
    return commandError(text, { hint: `see what is left of it: svc query deployment get ${of}` });
  }
  const hint = `take a bid first: svc query market bid list ${of} --state open, then svc tx market lease create`;
  return commandError(`deployment ${dseq} of ${owner} has no active lease`, { hint });
}

function keyOf({ leaseId: id, state }: Lease): LeaseKey[] {
  if (id === undefined || state !== Lease_State.active) return [];
  const { owner, dseq, gseq, oseq, provider } = id;
  return [{ owner, dseq, gseq, oseq, provider }];
}

/** The one active lease that the flags mean, with its gateway. */
export async function openLease(
  input: CommandInput,
): Promise<{ readonly session: TenantSession; readonly lease: LeaseKey; readonly gateway: GatewayClient }> {
  const session = await openTenant(input);
  const [lease, ...others] = await activeLeases(session);
  if (lease === undefined || others.length > 0) {
    const names = [lease, ...others].flatMap((each) => (each === undefined ? [] : [formatLeaseId(each)]));
    throw commandError(`the deployment has ${names.length} active leases: ${names.join(", ")}`, {
      hint: "name one with --gseq, --oseq or --provider",
    });
  }
  return { session, lease, gateway: await session.gateway(lease.provider) };
}

/** Runs and closes the connections to the node whatever happens. */
export async function withSession<T>(chain: ChainClient, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    chain.close();
  }
}
