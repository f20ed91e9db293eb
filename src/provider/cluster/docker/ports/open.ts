import { DEFAULT_PORT_LIMITS, halfOf } from "../../shared/index.ts";
import type { Naming } from "../labels.ts";
import type { DockerSettings } from "../options.ts";
import { KernelPorts } from "./kernel-ports.ts";

/** The rules of this provider, present or not. */
export function kernelPortsOf({ log }: DockerSettings, naming: Naming): KernelPorts {
  const { prefix, bridgePrefix } = naming;
  return new KernelPorts({ prefix, bridgePrefix, limits: halfOf(DEFAULT_PORT_LIMITS), log });
}

/** Undefined where they are not asked for, or where this machine takes no such rules, which is logged. */
export async function openKernelPorts(settings: DockerSettings, naming: Naming): Promise<KernelPorts | undefined> {
  const ports = kernelPortsOf(settings, naming);
  if (!settings.kernelPorts) {
    await ports.release();
    return undefined;
  }
  const reason = await ports.unavailable();
  if (reason === undefined) return ports;
  settings.log.warn(
    "the kernel cannot carry node ports, the data plane does: it takes root, nftables, iptables and conntrack",
    { err: reason },
  );
  return undefined;
}
