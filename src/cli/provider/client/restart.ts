import type { CommandInput } from "../../command/spec.ts";
import { printAs } from "../../terminal/output.ts";
import { openLease, withSession } from "./session.ts";

/** `provider lease-restart`. */
export async function leaseRestart(input: CommandInput): Promise<void> {
  const service = input.flags.need("service");
  const { session, lease, gateway } = await openLease(input);
  await withSession(session.chain, () => gateway.restart(lease, service));
  printAs(input, { service, restarting: true }, `${service} is restarting\n`);
}
