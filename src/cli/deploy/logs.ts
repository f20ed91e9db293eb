import { type ServiceLease, serviceLeases } from "../../tenant/index.ts";
import { cleanLine } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { logWishes, printLine } from "../provider/client/log-flags.ts";
import { runToEnd } from "./ending.ts";
import { readDseq } from "./policy.ts";
import { asTenant, type Tenant } from "./tenant.ts";

/** `svc deploy logs [SERVICE]`: lines of all replicas; with `-f` until Ctrl-C or the end of the lease. */
export function logsCommand(input: CommandInput): Promise<number> {
  const [service] = input.args;
  const dseq = readDseq(input.flags);
  const tail = tailOf(input);
  const wishes = logWishes(input.flags);
  return runToEnd(input, (signal) =>
    asTenant(input, { tx: {}, signal }, async (tenant) => {
      const leases = await serviceLeases(tenant.parts, dseq, service);
      await Promise.all(leases.map((lease) => printLines(input, tenant, { ...lease, tail, ...wishes })));
    }),
  );
}

interface Hearer {
  /** The services whose logs are wanted; empty for all. */
  readonly services: readonly string[];
  readonly say: (text: string) => void;
}

/** Containers that never started write nothing: the provider says why. If it cannot, the logs are shown anyway. */
export async function tellIdle(
  { parts }: Pick<Tenant, "parts">,
  { lease, provider }: ServiceLease,
  { services, say }: Hearer,
): Promise<void> {
  const state = await parts
    .openGateway(provider)
    .status(lease.id)
    .catch(() => undefined);
  if (state?.error !== undefined) say(state.error);
  for (const { name, available, total, error } of state?.services ?? []) {
    if (services.length > 0 && !services.includes(name)) continue;
    if (error !== undefined) say(`service ${name}: ${error}`);
    else if (available === 0) say(`service ${name}: 0 of ${total} replicas run; see why: svc deploy ps`);
  }
}

function tailOf({ flags }: CommandInput): number {
  return flags.given("tail") ? flags.count("tail") : -1;
}

interface LogWishes {
  readonly tail: number;
  readonly since: Date | undefined;
  readonly previous: boolean;
}

async function printLines(
  { args, flags, io }: CommandInput,
  tenant: Tenant,
  { lease, provider, ...wishes }: ServiceLease & LogWishes,
) {
  await tellIdle(tenant, { lease, provider }, { services: args, say: (text) => io.err(`${cleanLine(text)}\n`) });
  const gateway = await tenant.gateway(provider);
  const onRetry = ({ message }: Error): void => io.err(`${cleanLine(message)}; reconnecting\n`);
  const request = { services: [...args], follow: flags.bool("follow"), ...wishes, signal: tenant.signal, onRetry };
  for await (const line of gateway.logs(lease.id, request)) {
    io.out(`${printLine(line, `[${cleanLine(line.name)}]`, flags)}\n`);
  }
}
