import type { Redirect } from "../replica/plan.ts";
import { run } from "./command.ts";

const CHAIN = "SVC-AS";
const JUMPS = [
  `-A PREROUTING -m addrtype --dst-type LOCAL -j ${CHAIN}`,
  `-A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j ${CHAIN}`,
];

/**
 * Makes `as` work between the services of a lease: inside the replica's own network namespace the kernel redirects the
 * external port to the one the program listens on. None of our code is in the data path, connections keep their source
 * address, and the tenant cannot change the rule because the capability for it is dropped. Traffic from the
 * gateway and from outside is unchanged: ports of the host already name the container port.
 */
export async function redirectPorts(pid: number, redirects: readonly Redirect[], network: LeaseSide): Promise<void> {
  if (redirects.length === 0) return;
  const enter = [`--net=/proc/${pid}/ns/net`];
  const known = await run("nsenter", [...enter, "iptables", "-w", "-t", "nat", "-S", CHAIN]).catch(() => "");
  // Chains of older daemons also redirect packets from outside; they are filled again.
  if (known.includes(`! -s ${network.subnet}`)) return;
  const rules = redirectRules(redirects, network, { isNew: known === "" });
  await run("nsenter", [...enter, "iptables-restore", "-w", "--noflush"], rules);
}

/** Where the other services of a lease call from. */
export interface LeaseSide {
  readonly gateway: string;
  readonly subnet: string;
}

/** Rules for packets from other replicas (PREROUTING) and for a replica that calls its own service (OUTPUT). */
export function redirectRules(redirects: readonly Redirect[], network: LeaseSide, { isNew = true } = {}): string {
  return [
    "*nat",
    `:${CHAIN} - [0:0]`,
    `-A ${CHAIN} ! -s ${network.subnet} -j RETURN`,
    `-A ${CHAIN} -s ${network.gateway} -j RETURN`,
    ...redirects.map((rule) => `-A ${CHAIN} -p ${rule.proto} --dport ${rule.from} -j REDIRECT --to-ports ${rule.to}`),
    ...(isNew ? JUMPS : []),
    "COMMIT",
    "",
  ].join("\n");
}
