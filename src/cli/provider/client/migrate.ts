import { printable } from "../../../util/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { openLease, withSession } from "./session.ts";

/** `provider migrate-endpoints`: the lease is the destination. */
export async function migrateEndpoints(input: CommandInput): Promise<void> {
  const { args, io } = input;
  if (args.length === 0) throw usageError("name the leased addresses to migrate to this deployment");
  const { session, lease, gateway } = await openLease(input);
  const transferred = await withSession(session.chain, () => gateway.migrateEndpoints(lease, args));
  if (session.context.output === "json") return io.out(`${printable(JSON.stringify({ transferred }))}\n`);
  io.out(
    transferred.map((name) => `leased address ${printable(name)} now belongs to deployment ${lease.dseq}\n`).join(""),
  );
}

/** `provider migrate-hostnames`: the lease is the destination. */
export async function migrateHostnames(input: CommandInput): Promise<void> {
  const { args, io } = input;
  if (args.length === 0) throw usageError("name the host names to migrate to this deployment");
  const { session, lease, gateway } = await openLease(input);
  const transferred = await withSession(session.chain, () => gateway.migrateHosts(lease, args));
  if (session.context.output === "json") return io.out(`${printable(JSON.stringify({ transferred }))}\n`);
  io.out(transferred.map((host) => `${printable(host)} now belongs to deployment ${lease.dseq}\n`).join(""));
}
