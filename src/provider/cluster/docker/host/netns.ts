import type { Redirect } from "../replica/plan.ts";
import { run } from "./command.ts";

const CHAIN = "SVC-AS";

/**
 * Makes `as` work between the services of a lease: inside the replica's own network namespace the kernel redirects the
 * external port to the one the program listens on. None of our code is in the data path, connections keep their source
 * address, and the tenant cannot change the rule because the capability for it is dropped. Traffic from the
 * gateway is unchanged: the host's published ports already name the container port.
 */
export async function redirectPorts(pid: number, redirects: readonly Redirect[], gateway: string): Promise<void> {
  if (redirects.length === 0) return;
  const enter = [`--net=/proc/${pid}/ns/net`];
  const done = await run("nsenter", [...enter, "iptables", "-w", "-t", "nat", "-S", CHAIN]).then(
    () => true,
    () => false,
  );
  if (!done) await run("nsenter", [...enter, "iptables-restore", "-w", "--noflush"], redirectRules(redirects, gateway));
}

/** Rules for packets from other replicas (PREROUTING) and for a replica that calls its own service (OUTPUT). */
export function redirectRules(redirects: readonly Redirect[], gateway: string): string {
  return [
    "*nat",
    `:${CHAIN} - [0:0]`,
    `-A ${CHAIN} -s ${gateway} -j RETURN`,
    ...redirects.map((rule) => `-A ${CHAIN} -p ${rule.proto} --dport ${rule.from} -j REDIRECT --to-ports ${rule.to}`),
    `-A PREROUTING -m addrtype --dst-type LOCAL -j ${CHAIN}`,
    `-A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j ${CHAIN}`,
    "COMMIT",
    "",
  ].join("\n");
}
