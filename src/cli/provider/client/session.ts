import { openCertificate, tenantCredential } from "../../../certs/index.ts";
import {
  type ChainClient,
  type GatewayClient,
  type GatewayCredential,
  type LeaseRecord,
  marketReader,
  type ProviderRecord,
} from "../../../client/index.ts";
import { certifiedBy, gatewayOf } from "../../../tenant/index.ts";
import { formatLeaseId, type LeaseKey, SignMode } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { keyringSigner, requireSigningKey } from "../../keys/signer.ts";
import { addressFlag } from "../../query/ask.ts";

/** A tenant at the command line. */
export interface TenantSession {
  readonly context: CliContext;
  readonly owner: string;
  readonly chain: ChainClient;
  /** The gateway of a provider, with the tenant's credential. */
  gateway(provider: string): Promise<GatewayClient>;
}

/** Opens the key of `--from` and a connection to the chain. */
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
  const target = certifiedBy(chain.query);
  return {
    context,
    owner: sender.address,
    chain,
    gateway: async (provider) => gatewayOf({ target, credential }, await findProvider(chain, provider)),
  };
}

/** The flags that name a lease, read before any request for it. */
function checkLeaseFlags(flags: Flags): void {
  flags.need("dseq");
  addressFlag(flags, "provider");
  for (const name of ["dseq", "gseq", "oseq"]) {
    if (flags.given(name) && flags.count(name) === 0) {
      throw usageError(`${flags.label(name)}: 0 is not a valid number, numbers begin at 1`);
    }
  }
}

/** A provider by its address. Throws with a remedy if the chain has none. */
export async function findProvider(chain: ChainClient, address: string): Promise<ProviderRecord> {
  const provider = await marketReader(chain.query).provider(address);
  if (provider !== undefined) return provider;
  throw commandError(`${address} is not a provider`, { hint: "list the providers: svc query provider list" });
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
  const { leases } = marketReader(chain.query);
  const found = await leases({ ...filters, state: "active" });
  if (found.length > 0) return found.map(({ id }) => id);
  throw noLease(filters, await leases(filters));
}

/** Nothing has been leased yet, or every lease has ended. */
function noLease({ owner, dseq }: Pick<LeaseKey, "owner" | "dseq">, ended: readonly LeaseRecord[]): Error {
  const of = `--owner ${owner} --dseq ${dseq}`;
  const last = ended.toSorted((a, b) => Number(a.closedOn - b.closedOn)).at(-1);
  if (last !== undefined) {
    const text = `the lease of deployment ${dseq} at ${last.id.provider} ended in block ${last.closedOn} (${last.closeReason})`;
    return commandError(text, { hint: `see its deployment: svc query deployment get ${of}` });
  }
  const hint = `accept a bid first: svc query market bid list ${of} --state open, then svc tx market lease create`;
  return commandError(`deployment ${dseq} of ${owner} has no active lease`, { hint });
}

/** The single active lease that the flags select, with its gateway. */
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

/** Runs the function, and closes the connections to the node in any case. */
export async function withSession<T>(chain: ChainClient, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    chain.close();
  }
}
