import { BlockList } from "node:net";
import { networkInterfaces } from "node:os";
import { run } from "../../src/provider/cluster/docker/host/command.ts";
import { type EnginePort, EngineRules, enginePorts } from "../../src/provider/cluster/docker/host/engine-rules.ts";
import { silentLogger } from "../../src/util/index.ts";

/** Prefixes that drivers derive from their folders. */
const PREFIXES = "svc-[0-9a-f]{8}";

/**
 * Removes ports of the machine that lead to networks which no longer exist: an engine that was killed leaves some, and they take the
 * connections of the next listener there. Containers of tests that run now have their network.
 */
export async function removeDeadPorts(tool = run): Promise<void> {
  await new EngineRules(PREFIXES, silentLogger, tool).sweep(async () => {
    // Looked at after the rules that may go: a container of another test that starts meanwhile keeps its ports.
    const text = await tool("iptables", ["-w", "10", "-t", "nat", "-S"]).catch(() => "");
    const here = networksHere();
    const live = enginePorts(text).filter((port) => targetsOf(text, port).some((address) => here.check(address)));
    return new Set(live.map(({ container }) => container));
  });
}

function networksHere(): BlockList {
  const list = new BlockList();
  for (const { family, cidr } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
    const [address = "", bits] = (cidr ?? "").split("/");
    if (family === "IPv4" && bits !== undefined) list.addSubnet(address, Number(bits));
  }
  return list;
}

function targetsOf(text: string, { chain, proto, hostPort }: EnginePort): string[] {
  const rule = new RegExp(`^-A ${chain} .*-p ${proto} .*--dport ${hostPort} .*--to-destination ([\\d.]+):`, "gm");
  return [...text.matchAll(rule)].flatMap(([, address]) => address ?? []);
}
