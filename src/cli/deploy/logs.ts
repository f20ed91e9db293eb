import { cleanLine } from "../provider-client/clean.ts";
import type { CommandInput } from "../spec.ts";
import { runToEnd } from "./ending.ts";
import { type ServiceLease, serviceLeases } from "./pick.ts";
import { readDseq } from "./policy.ts";
import { asTenant, type Tenant } from "./tenant.ts";

/** `svc deploy logs [SERVICE]`: lines of all replicas; with `-f` until Ctrl-C or the end of the lease. */
export function logsCommand(input: CommandInput): Promise<number> {
  const [service] = input.args;
  const dseq = readDseq(input.flags);
  const tail = tailOf(input);
  return runToEnd(input, (signal) =>
    asTenant(input, { tx: {}, signal }, async (tenant) => {
      const leases = await serviceLeases(tenant.parts, dseq, service);
      await Promise.all(leases.map((lease) => printLines(input, tenant, { ...lease, tail })));
    }),
  );
}

function tailOf({ flags }: CommandInput): number {
  return flags.given("tail") ? flags.count("tail") : -1;
}

async function printLines(
  { args, flags, io }: CommandInput,
  tenant: Tenant,
  { lease, provider, tail }: ServiceLease & { readonly tail: number },
) {
  const gateway = await tenant.gateway(provider);
  const onRetry = ({ message }: Error): void => io.err(`${cleanLine(message)}; connecting again\n`);
  const request = { services: [...args], follow: flags.bool("follow"), tail, signal: tenant.signal, onRetry };
  const isJson = flags.text("output") === "json";
  for await (const { name, message } of gateway.logs(lease.id, request)) {
    io.out(isJson ? `${JSON.stringify({ name, message })}\n` : `[${cleanLine(name)}] ${cleanLine(message)}\n`);
  }
}
